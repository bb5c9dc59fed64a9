import type { Called, Request } from './calls.ts'
import type { Violation } from './log-checks.ts'
import type { License } from './model.ts'
import type { Random } from './random.ts'
import type { Stage } from './stage.ts'

/** What the kinds of calls share. */
export type LoadContext = {
  readonly stage: Stage
  readonly licenses: License[]
  /** To either application, as a tenant. */
  request(
    tenantId: string,
    request: Omit<Request, 'headers'> & { headers?: Record<string, string> },
  ): Promise<Called>
  /** To this one, as nobody. */
  requestOf(app: 1 | 2, request: Request): Promise<Called>
  fail(violation: Violation): void
  /** A change was acknowledged. */
  acknowledged(): void
  /**
   * Tries until it is done, as a client does that has to succeed.
   * @param work says whether it is done
   */
  untilDone(what: string, work: () => Promise<boolean>): Promise<void>
  readonly random: Random
}
