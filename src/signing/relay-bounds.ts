/** The most characters of what a relay says: {@link mostMinutes} with seven digits each have about 1,000,000. */
export const maxRelayStatementLength = 1_000_000

/** How many minutes a relay reports at most; it leaves out the oldest ones. */
export const mostMinutes = 25_000

/** How many heads it reports at most: one for each request since the last one that was answered. */
export const mostHeads = 1000

/** The largest request that brings one, in bytes. Routes that a caller reaches without signing in take less by themselves. */
export const relayBodyLimit = 1_048_576
