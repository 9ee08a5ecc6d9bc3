/* Empty on purpose: see README. */
