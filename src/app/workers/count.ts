import { availableParallelism } from 'node:os'

const mostByDefault = 8

/** One worker a core that this process may use, as the system or its container says. */
export const defaultWorkers = (): number => Math.min(mostByDefault, availableParallelism())
