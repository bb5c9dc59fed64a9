import { availableParallelism } from 'node:os'

const maxByDefault = 8

/** One worker per core that the system or the container allows this process. */
export const defaultWorkers = (): number => Math.min(maxByDefault, availableParallelism())
