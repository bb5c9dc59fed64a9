/**
 * How long a test may take. Only what hangs takes that long, also on a machine that is busy with everything else; a test that
 * repeats something as often as a variable says adds time for it.
 */
export const testMs = 1_800_000

/** How long a test waits for one thing to come true. */
export const waitMs = 240_000
