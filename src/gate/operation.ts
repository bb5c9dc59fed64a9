import type { z } from 'zod'
import type { Origin } from '../commands/origin.ts'
import { newId } from '../credentials/id.ts'
import type { Permission } from '../domain/members/roles.ts'
import type { Scope } from '../domain/tokens/events.ts'
import type { Ports } from '../ports.ts'
import { type Fact, type Preview, previewOf } from './effects/effect.ts'
import { effectOf } from './effects/effect-of.ts'
import { rehearsalOrigin, rehearse } from './effects/rehearse.ts'
import type { ApprovalPorts, OperationPorts } from './ports.ts'

/** A request as received: path parameters, query and body, before any schema is applied. `null`: no body. */
export type RequestInput = { parameters: Record<string, string>; query: unknown; body: unknown }

/** `Reason given by the requester` and the reason, quoted. */
export type Detail = readonly [label: string, value: string]

/** How a request is named to an approver, computed from the stored request each time. */
export type Description = {
  /** One sentence with the names involved: `Revoke ACME…7KQ2 of a@b.c`. */
  summary: string
  /** What it is about, beside the summary: a label and a value each. What the request changes is said by its effect. */
  details?: readonly Detail[] | undefined
  /** The receiver of data: the parsed host in ASCII, and the whole URL as given. */
  target?: { host: string; url: string } | undefined
  /**
   * What the description depends on, as plain JSON: if it differs from its value at the request, the approver
   * is warned. Only its hash is recorded, and a hash can be guessed, so it holds no personal data and no
   * secrets: only ids, revisions, counts.
   */
  state: unknown
}

/** The single execution that a confirmation allows. */
type Execution = {
  /**
   * The confirmation's id: whatever the operation creates is named after it, so that a repetition finds it.
   */
  id: string
  /** Its causation id is the confirmation's id; it is part of the metadata of every event that it causes. */
  origin: Origin
}

type Parts = { params?: z.ZodType; query?: z.ZodObject; body?: z.ZodType }

type OperationOf<Input, Result> = {
  /** Recorded in events: `license.revoke`. Never changed. */
  name: string
  /** Shown when the description is no longer available: `Revoke a license`. */
  title: string
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** In the form of the OpenAPI description: `/v1/licenses/{id}/revoke`. */
  path: string
  /** Its result is streamed: a member's request is run when they download it, not when it is approved. */
  streams?: true
  /** Required besides `danger`. */
  scope: Scope
  /** The permission that an approver needs, where deciding on requests is not enough. */
  approvedWith?: Permission
  /**
   * Refuses what could never run, so that no confirmation is opened for it. Changes nothing.
   * @throws Refusal
   */
  check(
    ports: Ports<'checkTarget' | 'db' | 'findProduct' | 'ledger' | 'now'>,
    tenantId: string,
    input: Input,
  ): Promise<void>
  /**
   * For an operation of which only some requests need an approval: what to run at once, without `danger`; undefined
   * when a person has to approve it.
   */
  ungated?(ports: Ports<'db'>, tenantId: string, input: Input): Promise<Input | undefined>
  /** @throws Refusal when the subject of the operation no longer exists */
  describe(
    ports: Ports<'db' | 'findProduct' | 'now' | 'subjects'>,
    tenantId: string,
    input: Input,
  ): Promise<Description>
  /**
   * What the events of `run` do not say about its effect, such as how much is read. It reads a bounded number of rows.
   * @throws Refusal when the subject of the operation no longer exists
   */
  facts?(ports: Ports<'db' | 'now'>, tenantId: string, input: Input): Promise<Fact[]>
  /** `run` is not rehearsed for a preview, since it takes the longer the more there is; its facts say what it does. */
  unrehearsed?: true
  /**
   * Runs the operation. A repetition with the same execution, after a crash or concurrently, changes nothing
   * more and succeeds. A Refusal ends it; after any other error it is run again later.
   * @throws Refusal
   */
  run(ports: OperationPorts, tenantId: string, input: Input, execution: Execution): Promise<Result>
}

/** An operation as the gate uses it: its input is unparsed, and parsed each time before use. */
export type GatedOperation<Result> = Omit<
  OperationOf<RequestInput, Result>,
  'ungated' | 'facts' | 'unrehearsed'
> & {
  parts: Parts
  /** What it would change now, by its own decisions on the present state. Nothing is recorded. */
  preview(ports: ApprovalPorts, tenantId: string, request: RequestInput): Promise<Preview>
  /** Whether a request needs no approval. Absent when every request does. @throws Refusal */
  needsNoApproval?(ports: Ports<'db'>, tenantId: string, request: RequestInput): Promise<boolean>
  /**
   * Runs a request that needs no approval; undefined when it needs one. Absent when every request does.
   * @throws Refusal
   */
  runUngated?(
    ports: OperationPorts & Ports<'checkTarget' | 'findProduct'>,
    tenantId: string,
    request: RequestInput,
    execution: Execution,
  ): Promise<{ result: Result } | undefined>
}

/**
 * Declares a gated operation.
 * @param operation `input` is a zod object with `params`, `query` and `body` as needed; `body` is parsed from
 *   `null` if the request has none
 */
export function gatedOperation<Input extends z.ZodObject<Record<string, z.ZodType>>, Result>({
  input,
  check,
  describe,
  facts,
  unrehearsed,
  ungated,
  run,
  ...about
}: OperationOf<z.infer<Input>, Result> & { input: Input }): GatedOperation<Result> {
  const parse = ({ parameters, query, body }: RequestInput) =>
    input.parse({ params: parameters, query, body })
  return {
    ...about,
    parts: input.shape,
    check: (ports, tenantId, request) => check(ports, tenantId, parse(request)),
    describe: (ports, tenantId, request) => describe(ports, tenantId, parse(request)),
    preview: (ports, tenantId, request) =>
      previewOf(async () => {
        const parsed = parse(request)
        const input = (await ungated?.(ports, tenantId, parsed)) ?? parsed
        await check(ports, tenantId, input)
        const execution = { id: newId('cnf'), origin: rehearsalOrigin }
        const decided = unrehearsed
          ? []
          : await rehearse(ports, (own) => run(own, tenantId, input, execution))
        return effectOf(ports, tenantId, decided, await facts?.(ports, tenantId, input))
      }),
    ...(ungated && {
      async needsNoApproval(ports, tenantId, request) {
        return (await ungated(ports, tenantId, parse(request))) !== undefined
      },
      async runUngated(ports, tenantId, request, execution) {
        const input = await ungated(ports, tenantId, parse(request))
        if (input === undefined) return undefined
        await check(ports, tenantId, input)
        return { result: await run(ports, tenantId, input, execution) }
      },
    }),
    run: (ports, tenantId, request, execution) => run(ports, tenantId, parse(request), execution),
  }
}
