/** The numbers of Postgres' advisory locks, side by side so that no two of them are the same. */

/** For everything that moves or replaces the read models, so that there is always one writer. */
export const projectionLock = 7_214_501
/** Held by a rebuild, so that there is one at a time. */
export const rebuildLock = 7_214_502
/** Held by a comparison with the log, likewise. */
export const verifyLock = 7_214_503
/** Held by the one process that dispatches where processes have no common feed. */
export const dispatchLock = 7_214_511
/** Held while a new ledger greets, so that of several starts at once one does. */
export const logIdentityLock = 7_214_510
/** Held while a process says that it is there and counts the others, with which it shares the rate limits. */
export const processesLock = 7_214_512
/** Held while it is decided whether a database is being restored. */
export const restoreLock = 7_214_513
/** Held by the one process that makes a backup on schedule. */
export const backupLock = 7_214_514
