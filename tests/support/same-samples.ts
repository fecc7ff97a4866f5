import fc from "fast-check";

/**
 * The tests of one commit are the same at every run, so that a red one says something about the change before it. New
 * samples are for `npm run fuzz`, and for another `SEED`.
 */
fc.configureGlobal({ seed: Number(process.env["SEED"] ?? 1) });
