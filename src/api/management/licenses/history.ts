import { z } from 'zod'
import { findLicense } from '../../../../projections/licenses/queries.ts'
import { momentOf } from '../../../commands/origin.ts'
import { publicNames } from '../../../domain/licenses/event-names.ts'
import { changedFields } from '../../../history/changes.ts'
import { compareMoments } from '../../../history/compare.ts'
import { readHistory } from '../../../history/entries.ts'
import { callerIn } from '../../../http/authenticate.ts'
import type { Cursors } from '../../../http/cursor.ts'
import { entitlementValuesOut } from '../../../http/licenses/entitlement-values.ts'
import { recognizedShape } from '../../../http/licenses/license.ts'
import { notFound } from '../../../http/problem.ts'
import { asOf, asOfFrom, asOfIn, momentHelp, pastMoment } from '../../../http/query.ts'
import { answer, errors, momentOut, pageOf, pageQuery, text } from '../../../http/schemas.ts'
import type { ZodApp } from '../../../http/validation.ts'
import type { Ports } from '../../../ports.ts'
import { explain } from '../../../verdicts/explain.ts'
import { rules } from '../../../verdicts/reasons.ts'
import { runtimeStatus } from '../../runtime/schemas.ts'
import { actorOut } from '../actor.ts'
import { answerPage } from '../page.ts'
import { requireLicenseId } from './licenses.ts'

const sequence = z
  .int()
  .meta({ description: 'The position in the history of the license; 0 is the first', example: 1 })

const event = z.enum(Object.values(publicNames)).meta({
  description: 'The event name that webhooks use, where they have one',
  example: 'license.activated',
})

const summary = z.string().meta({
  description: 'What happened, in one line for people; the wording may change',
  example: '“MacBook” activated',
})

const value = z.union([z.string(), z.number()]).nullable()
const before = value.meta({ description: 'Its value before; null if it had none', example: 0 })
const after = value.meta({ description: 'Its value after; null if it has none', example: 1 })
const changesOut = z
  .array(
    z.object({
      field: z.enum(changedFields).meta({ description: 'What changed', example: 'seatsUsed' }),
      before,
      after,
    }),
  )
  .meta({ description: 'What is different, one entry for each field' })

const entryOut = z
  .object({
    sequence,
    event,
    time: momentOut,
    actor: actorOut,
    requestId: z.string(),
    summary,
    device: z
      .object({
        deviceId: z.string(),
        name: z.string().nullable().meta({ description: 'The label of the device; null if it is not known' }),
      })
      .nullable()
      .meta({ description: 'The device that the event is about; null for others' }),
    changes: changesOut,
    links: z
      .object({
        saleId: z
          .string()
          .nullable()
          .meta({ description: 'The id of the sale, `sal_…`; null if no sale caused it' }),
        customerId: z
          .string()
          .nullable()
          .meta({ description: 'The customer that it names; null if it names none' }),
        confirmationId: z
          .string()
          .nullable()
          .meta({ description: 'The confirmation that a person approved; null if none was needed' }),
        deliveries: z
          .array(
            z.object({
              id: z.string().meta({ description: 'The id of the delivery' }),
              channel: z.enum(['webhook', 'mail']).meta({ description: 'How it is delivered' }),
              status: z
                .enum(['pending', 'delivered', 'abandoned'])
                .meta({ description: 'Whether it arrived; `abandoned` after the last attempt' }),
            }),
          )
          .meta({ description: 'The webhook deliveries and mails that the event caused' }),
      })
      .meta({ description: 'What the event belongs to' }),
  })
  .meta({
    id: 'LicenseHistoryEntry',
    description: 'An event of a license, in words and with what it changed',
    example: {
      sequence: 1,
      event: 'license.activated',
      time: '2026-11-21T09:42:10.000Z',
      actor: { kind: 'token', id: 'tok_06f5w3k8hx7vq2m4n9t1r0s5zc', name: 'CI' },
      requestId: 'req_06f5w3k8hx7vq2m4n9t1r0s5zc',
      summary: '“MacBook” activated',
      device: { deviceId: 'machine-7f3a', name: 'MacBook' },
      changes: [
        { field: 'seatsUsed', before: 0, after: 1 },
        { field: 'device', before: null, after: 'active' },
      ],
      links: { saleId: null, customerId: null, confirmationId: null, deliveries: [] },
    },
  })

const reasoned = {
  succeeds: z.boolean().meta({
    description: 'Whether the call would succeed: validate with `valid`, activate with `activated`',
    example: true,
  }),
  httpStatus: z.union([z.literal(200), z.literal(403)]).meta({
    description: '403 where the interface refuses the call before it looks up the license',
    example: 200,
  }),
  status: runtimeStatus.nullable().meta({
    description: 'The status that the runtime interface returns; null for a 403',
    example: 'active',
  }),
  rule: z.enum(rules).meta({ description: 'The reason as a stable code', example: 'seated' }),
  because: z.string().meta({
    description: 'The reason in words; the wording may change',
    example:
      'valid: “MacBook” has had a seat since 2026-11-21 09:42:10 UTC, and the license expires on 2027-11-21 09:30:00 UTC',
  }),
  events: z
    .array(z.object({ sequence, event, time: momentOut, actor: actorOut, summary }))
    .meta({ description: 'The events that the answer rests on' }),
}

const explanationOut = z
  .object({
    at: momentOut.meta({
      description: 'The moment that the answer is for',
      example: '2026-11-24T14:05:12.000Z',
    }),
    sequence: sequence.meta({ description: 'The last event of the license at that moment' }),
    deviceId: z.string().nullable(),
    validate: z
      .object({
        ...reasoned,
        expires_at: z.int().nullable().meta({
          description: 'Unix seconds, as validate returns it; null for a perpetual license',
          example: 1_826_789_400,
        }),
        entitlements: z.array(z.string()),
        entitlement_values: entitlementValuesOut.optional(),
      })
      .meta({ description: 'What validate returns' }),
    activate: z
      .object({
        ...reasoned,
        because: reasoned.because.meta({ example: 'allowed: “MacBook” already has a seat' }),
      })
      .meta({ description: 'What activate returns for the given device, or for a new one' }),
    seats: z
      .object({
        used: z.int().meta({
          description: 'How many devices have a seat, or how many people, where the seats are of people',
          example: 1,
        }),
        limit: z.int().nullable().meta({ description: 'The device limit; null is unlimited', example: 3 }),
        devices: z.int().optional().meta({
          description: 'How many devices are in the seats of people; absent where each seat is of a device',
          example: 2,
        }),
        taken: z
          .array(
            z.object({
              deviceId: z.string(),
              instanceId: z.string(),
              name: z.string().meta({ description: 'The label of the device', example: 'MacBook' }),
              platform: z.string().nullable(),
              activatedAt: momentOut,
              ...recognizedShape,
            }),
          )
          .meta({ description: 'The devices that have seats, oldest first, at most 20' }),
      })
      .meta({ description: 'The seats of the license at that moment' }),
  })
  .meta({
    id: 'LicenseExplanation',
    description: 'What validate and activate return for a license at a moment, and why',
  })

const sideOut = z.object({
  sequence: sequence.meta({ description: 'The last event of the license at that moment' }),
  at: momentOut.meta({ description: 'The moment that was compared' }),
})

const comparisonOut = z
  .object({
    from: sideOut.meta({ description: 'The earlier side' }),
    to: sideOut.meta({ description: 'The later side' }),
    changes: changesOut,
    devices: z
      .array(
        z.object({
          deviceId: z.string(),
          name: z.string().meta({ description: 'The label of the device' }),
          before: value.meta({ description: 'Its state at the earlier moment' }),
          after: value.meta({ description: 'Its state at the later moment' }),
        }),
      )
      .meta({
        description:
          'The devices whose state differs: `active`, `deactivated`, or null before the first activation',
      }),
  })
  .meta({
    id: 'LicenseComparison',
    description: 'What differs in a license between two moments',
    example: {
      from: { sequence: 0, at: '2026-11-21T09:30:00.000Z' },
      to: { sequence: 1, at: '2026-11-21T09:42:10.000Z' },
      changes: [{ field: 'seatsUsed', before: 0, after: 1 }],
      devices: [{ deviceId: 'machine-7f3a', name: 'MacBook', before: null, after: 'active' }],
    },
  })

const params = z.strictObject({ id: z.string() })

/** The history of a license, the explanation of its current or past answers, and what changed between two moments. */
export function licenseHistoryRoutes(
  app: ZodApp,
  ports: Ports<'db' | 'findForRuntime' | 'ledger' | 'now' | 'subjects'>,
  cursors: Cursors,
): void {
  historyRoute(app, ports, cursors)
  explainRoute(app, ports)
  diffRoute(app, ports)
}

function historyRoute(app: ZodApp, ports: Ports<'db' | 'subjects'>, cursors: Cursors): void {
  app.get(
    '/v1/licenses/:id/history',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'getLicenseHistory',
        tags: ['Licenses'],
        summary: 'Read the history of a license: what happened, when, by whom, and what it changed',
        description: 'The cost of a page does not depend on the length of the history.',
        params,
        querystring: z.strictObject(pageQuery),
        response: { 200: answer('A page of the history', pageOf(entryOut)), ...errors(400, 403, 404) },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const { order } = request.query
      if (!(await findLicense(ports.db, tenantId, licenseId))) throw notFound('license')
      return answerPage(
        cursors,
        [tenantId, 'history', licenseId],
        request.query,
        async ({ after, limit }) => {
          const ref = { tenantId, licenseId }
          const sequence = after && Number(after.id)
          const { entries, next } = await readHistory(ports, ref, { order, after: sequence, limit })
          const last = entries.at(-1)
          const isLast = next === undefined || !last
          return { items: entries, next: isLast ? undefined : { createdAt: last.time, id: String(next) } }
        },
        (entries) => entries,
      )
    },
  )
}

function explainRoute(
  app: ZodApp,
  ports: Ports<'db' | 'findForRuntime' | 'ledger' | 'now' | 'subjects'>,
): void {
  app.get(
    '/v1/licenses/:id/explain',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'explainLicense',
        tags: ['Licenses'],
        summary: 'Explain what validate and activate would return, now or at a past moment',
        description:
          'Uses the same code as validate and activate, but counts, records and activates nothing. The answer is for ' +
          "the license's current key: an older key gets `reminted`.",
        params,
        querystring: z.strictObject({
          device_id: text(256).optional().meta({ description: 'When absent, only the license is checked' }),
          asOf,
        }),
        response: {
          200: answer('The explanation', z.object({ explanation: explanationOut })),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const { device_id: deviceId, asOf: moment } = request.query
      const licenseId = requireLicenseId(request.params.id)
      return {
        explanation: await explain(ports, { tenantId, licenseId, deviceId, asOf: asOfFrom(moment) }),
      }
    },
  )
}

function diffRoute(app: ZodApp, ports: Ports<'db' | 'ledger' | 'now'>): void {
  app.get(
    '/v1/licenses/:id/diff',
    {
      config: { scope: 'licenses:read' },
      schema: {
        operationId: 'compareLicense',
        tags: ['Licenses'],
        summary: 'Compare a license at two moments',
        description:
          'Names each field and each device that differs. Both moments lie in the past; what changed and changed back between them ' +
          'is not listed, for which there is the history.',
        params,
        querystring: z.strictObject({
          from: pastMoment.meta({ description: `The earlier moment: ${momentHelp}` }),
          to: pastMoment
            .optional()
            .meta({ description: `The later moment, or now when it is absent: ${momentHelp}` }),
        }),
        response: {
          200: answer('The differences', z.object({ comparison: comparisonOut })),
          ...errors(400, 403, 404),
        },
      },
    },
    async (request) => {
      const { tenantId } = callerIn(request)
      const licenseId = requireLicenseId(request.params.id)
      const from = asOfIn(request.query.from)
      const to = asOfFrom(request.query.to) ?? { time: momentOf(ports) }
      return { comparison: await compareMoments(ports, { tenantId, licenseId }, from, to) }
    },
  )
}
