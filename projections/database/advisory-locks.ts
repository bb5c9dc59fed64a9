/** The keys of all Postgres advisory locks, in one file so that each is unique. */

/** Held while the read models are advanced or swapped, so that there is one writer. */
export const projectionLock = 7_214_501
/** Held by a rebuild, so that there is one at a time. */
export const rebuildLock = 7_214_502
/** Held by a verify, so that there is one at a time. */
export const verifyLock = 7_214_503
/** Held by the one process that dispatches deliveries, where processes share no NATS feed. */
export const dispatchLock = 7_214_511
/** Held by the one process that runs the notary. */
export const notaryLock = 7_214_515
/** Held by the one process that compares the log with the notary's tree on schedule. */
export const auditLock = 7_214_516
/** Held while the first start of a ledger creates its demo tenant: of several concurrent starts, one does. */
export const firstStartLock = 7_214_510
/** Held while a process registers itself and counts the other processes, which share the rate limits. */
export const processesLock = 7_214_512
/** Held while a start or a restore checks whether the database is being restored. */
export const restoreLock = 7_214_513
/** Held by the one process that makes a backup on schedule. */
export const backupLock = 7_214_514
/** The first of two keys: each process shares a lock for each of its roles, so that others see which roles run. */
export const rolesLock = 7_214_517
