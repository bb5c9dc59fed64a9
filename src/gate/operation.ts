import type { z } from 'zod'
import type { Origin } from '../commands/origin.ts'
import type { Scope } from '../domain/tokens/scopes.ts'
import type { Ports } from '../ports.ts'

/** A request as it came: path parameters, query and body, before any schema has touched them. `null`: no body. */
export type RequestInput = { parameters: Record<string, string>; query: unknown; body: unknown }

/** What an approver is told, made afresh from the request that the server keeps each time it is shown. */
export type Description = {
  /** One sentence with the names involved: `Revoke ACME…7KQ2 of a@b.c`. */
  summary: string
  /** What follows from it, a sentence each: `2 active devices fail their next validate`. */
  consequences: string[]
  /** Where something would be sent to: the host as it was parsed, in ASCII, and the whole URL as it was given. */
  target?: { host: string; url: string } | undefined
  /**
   * What the description depends on, as plain JSON: when it differs from what it was, the approver is warned. Only
   * its hash is recorded, and a hash can be guessed back, so no personal data and no secrets: ids, revisions, counts.
   */
  state: unknown
}

/** The one execution that a confirmation allows. */
type Execution = {
  /** The confirmation's id: whatever the operation makes or keeps is named after it, so that a second run finds it. */
  id: string
  /** Its causation is the confirmation's id, and stands in the metadata of every event that it causes. */
  origin: Origin
}

type Parts = { params?: z.ZodType; query?: z.ZodType; body?: z.ZodType }

type OperationOf<Input, Result> = {
  /** Stands in events: `license.revoke`. Never changed. */
  name: string
  /** For people who can no longer be shown more: `Revoke a license`. */
  title: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** As the OpenAPI description writes it: `/v1/licenses/{id}/revoke`. */
  path: string
  /** Needed besides `danger`. */
  scope: Scope
  /**
   * Refuses what could never run, so that no confirmation is opened for it. Changes nothing.
   * @throws Refusal
   */
  check(
    services: Ports<'checkTarget' | 'db' | 'findProduct' | 'ledger' | 'now'>,
    tenantId: string,
    input: Input,
  ): Promise<void>
  /** @throws Refusal when what it would act on is gone */
  describe(
    services: Ports<'db' | 'findProduct' | 'now' | 'subjects'>,
    tenantId: string,
    input: Input,
  ): Promise<Description>
  /**
   * A sentence about what is counted over everything, for the page of one approval alone. It moves all the time, so it
   * is no part of what must be as it was read: `run` has to take no more than there was when it was approved.
   */
  count?(services: Ports<'db' | 'now'>, tenantId: string, input: Input): Promise<string>
  /**
   * Does it. Run a second time with the same execution, after a crash or at the same time, it changes nothing more
   * and succeeds. A Refusal ends it for good; on any other error it is run again later.
   * @throws Refusal
   */
  run(
    services: Ports<
      | 'db'
      | 'execute'
      | 'idempotency'
      | 'keyTypes'
      | 'ledger'
      | 'mailing'
      | 'now'
      | 'planCapacity'
      | 'randomBytes'
      | 'secrets'
      | 'subjects'
      | 'untilVisible'
    >,
    tenantId: string,
    input: Input,
    execution: Execution,
  ): Promise<Result>
}

/** An operation as the gate handles it: its input is whatever was sent, and parsed each time before it is used. */
export type GatedOperation<Result> = OperationOf<RequestInput, Result> & { parts: Parts }

/**
 * Declares a gated operation.
 * @param operation `input` is a zod object of those of `params`, `query` and `body` that it takes; without a body
 *   in the request, `body` is parsed from `null`
 */
export function gatedOperation<Input extends z.ZodObject<Record<string, z.ZodType>>, Result>({
  input,
  check,
  describe,
  count,
  run,
  ...about
}: OperationOf<z.infer<Input>, Result> & { input: Input }): GatedOperation<Result> {
  const parse = ({ parameters, query, body }: RequestInput) =>
    input.parse({ params: parameters, query, body })
  return {
    ...about,
    parts: input.shape,
    check: (services, tenantId, request) => check(services, tenantId, parse(request)),
    describe: (services, tenantId, request) => describe(services, tenantId, parse(request)),
    ...(count && {
      count: (services: Ports<'db' | 'now'>, tenantId: string, request: RequestInput) =>
        count(services, tenantId, parse(request)),
    }),
    run: (services, tenantId, request, execution) => run(services, tenantId, parse(request), execution),
  }
}
