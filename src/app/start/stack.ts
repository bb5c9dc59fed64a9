import { joinLocalStack, type LocalStack } from '../../../infra/local/stack/stack.ts'
import type { Config } from '../../config.ts'

/**
 * Starts or joins the embedded parts for which no URL is set.
 * @param log called with a sentence about each slow step or repair
 * @param supervise restarts parts that end
 * @throws LocalStackError when they cannot be used; the message says how to fix it
 */
export const joinStack = (
  config: Config,
  log: (message: string) => void,
  { supervise = false } = {},
): Promise<LocalStack> =>
  joinLocalStack({
    dataDirectory: config.dataDirectory,
    parts: { postgres: config.databaseUrl === undefined, eventStore: config.eventstoreUrl === undefined },
    log,
    supervise,
  })
