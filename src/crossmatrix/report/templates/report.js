(() => {
  "use strict";
  const page = document.getElementById("page");
  const box = document.getElementById("filter");
  const fields = [...document.querySelectorAll("a.field")];
  const panels = new Map([...document.querySelectorAll("article.cell")].map((panel) => [panel.id, panel]));
  let opened = null;
  let opener = null;
  document.documentElement.classList.add("scripted");

  const named = (address) => {
    try {
      return decodeURIComponent(address.replace(/^#/, ""));
    } catch {
      return "";
    }
  };

  // A panel opens without moving the page, and gives the focus back to what opened it.
  const show = (name) => {
    if (opened) opened.classList.remove("open");
    opened = panels.get(name) || null;
    page.inert = Boolean(opened);
    document.body.style.overflow = opened ? "hidden" : "";
    if (opened) {
      opened.classList.add("open");
      opened.scrollTop = 0;
      opened.focus({ preventScroll: true });
    } else if (opener) {
      opener.focus({ preventScroll: true });
      opener = null;
    }
  };
  const go = (name) => {
    history.pushState(null, "", name ? "#" + encodeURI(name) : location.pathname + location.search);
    show(name);
  };
  addEventListener("popstate", () => show(named(location.hash)));

  document.addEventListener("click", (event) => {
    const link = event.target.closest("a");
    if (event.target.closest("button.copy")) return copy(event.target.closest("button.copy"));
    if (link && link.hash && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      const name = named(link.hash);
      if (panels.has(name)) {
        event.preventDefault();
        if (!opened) opener = link;
        return go(name);
      }
      if (link.classList.contains("close")) {
        event.preventDefault();
        return go("");
      }
      const target = document.getElementById(name);
      if (link.classList.contains("jump") && target) {
        event.preventDefault();
        go("");
        target.open = true;
        return target.scrollIntoView();
      }
    }
    if (opened && !event.target.closest("article.cell")) go("");
  });

  const copy = async (button) => {
    const code = button.parentElement.querySelector("code");
    let done = false;
    try {
      await navigator.clipboard.writeText(code.textContent);
      done = true;
    } catch {
      getSelection().selectAllChildren(code);
      done = document.execCommand("copy");
    }
    button.textContent = done ? "copied" : "press Ctrl-C";
    setTimeout(() => { button.textContent = "copy"; }, 1600);
  };

  // Only one field is in the tab order; the arrow keys move it over the rows and columns that are shown.
  const rove = (field) => {
    for (const other of fields) other.tabIndex = other === field ? 0 : -1;
  };
  const move = (field, down, right) => {
    const rows = [...document.querySelectorAll("tr.row:not([hidden])")];
    let row = rows.indexOf(field.closest("tr"));
    let column = field.parentElement.cellIndex;
    for (;;) {
      row += down;
      column += right;
      const place = rows[row] && rows[row].cells[column];
      if (!place || column < 1) return;
      const next = place.querySelector("a.field:not(.out)");
      if (next) {
        rove(next);
        next.focus();
        next.scrollIntoView({ block: "nearest", inline: "nearest" });
        return;
      }
    }
  };
  const arrows = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Escape") {
      if (opened) {
        event.preventDefault();
        go("");
      } else if (document.activeElement === box) {
        event.preventDefault();
        box.value = "";
        sift();
        (fields.find((field) => field.tabIndex === 0) || box).focus();
      }
      return;
    }
    if (opened) return;
    if (event.key === "/" && document.activeElement !== box) {
      event.preventDefault();
      box.focus();
      box.select();
      return;
    }
    const step = arrows[event.key];
    if (!step || document.activeElement === box) return;
    const field = document.activeElement.closest("a.field");
    if (field) {
      event.preventDefault();
      move(field, ...step);
    }
  });
  document.addEventListener("focusin", (event) => {
    if (event.target.matches("a.field")) rove(event.target);
  });

  // The filter: words are looked for anywhere in a cell's id and verdict, key=value only as a whole.
  const sift = () => {
    const words = box.value.toLowerCase().split(/\s+/).filter(Boolean);
    const fits = (item) => {
      const facts = item.dataset.facts.split(" ");
      const text = item.dataset.cell.toLowerCase() + " " + item.dataset.facts;
      return words.every((word) => (/^\w+=./.test(word) ? facts.includes(word) : text.includes(word)));
    };
    let count = 0;
    for (const field of fields) {
      const fit = fits(field);
      field.classList.toggle("out", !fit);
      if (fit) count += 1;
    }
    for (const row of document.querySelectorAll("tr.row")) row.hidden = !row.querySelector("a.field:not(.out)");
    for (const body of document.querySelectorAll(".grid tbody")) body.hidden = !body.querySelector("tr.row:not([hidden])");
    for (const item of document.querySelectorAll("li[data-cell]")) item.hidden = !fits(item);
    for (const chip of document.querySelectorAll("button.chip")) {
      chip.setAttribute("aria-pressed", String(words.includes(chip.dataset.filter)));
    }
    document.getElementById("matches").textContent = words.length ? `${count} of ${fields.length} cells` : "";
    const first = fields.find((field) => !field.classList.contains("out"));
    if (first && !fields.some((field) => field.tabIndex === 0 && !field.classList.contains("out"))) rove(first);
  };
  box.addEventListener("input", sift);
  for (const chip of document.querySelectorAll("button.chip")) {
    chip.addEventListener("click", () => {
      box.value = chip.getAttribute("aria-pressed") === "true" ? "" : chip.dataset.filter;
      sift();
    });
  }

  if (fields.length) rove(fields[0]);
  box.value = "";
  sift();
  show(named(location.hash));
})();
