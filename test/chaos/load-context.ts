import type { Called, Request } from './calls.ts'
import type { Violation } from './log-checks.ts'
import type { License } from './model.ts'
import type { Random } from './random.ts'
import type { Stage } from './stage.ts'

/** What all kinds of calls share. */
export type LoadContext = {
  readonly stage: Stage
  readonly licenses: License[]
  /** Sends a tenant's request to either application. */
  request(
    tenantId: string,
    request: Omit<Request, 'headers'> & { headers?: Record<string, string> },
  ): Promise<Called>
  /** Sends a request without a token to the given application. */
  requestOf(app: 1 | 2, request: Request): Promise<Called>
  fail(violation: Violation): void
  /** Writes a line to the run's directory, to be read after a violation. */
  note(line: string): void
  /** Notes that a change was acknowledged. */
  acknowledged(): void
  /**
   * Repeats the work until it is done, as a client that must succeed.
   * @param work returns whether it is done
   */
  untilDone(what: string, work: () => Promise<boolean>): Promise<void>
  readonly random: Random
}
