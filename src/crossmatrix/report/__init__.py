"""Reports: everything here reads records alone, so that a report can be rendered again a year later."""
