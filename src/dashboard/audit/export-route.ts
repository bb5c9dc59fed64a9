import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { listAudit } from '../../../projections/audit/queries.ts'
import type { PageStart } from '../../../projections/page.ts'
import { recordAudit } from '../../commands/audit.ts'
import { momentOf } from '../../commands/origin.ts'
import { type Cell, csvLine } from '../../http/csv.ts'
import type { Ports } from '../../ports.ts'
import { pageRoute } from '../frame/page-route.ts'
import type { PageContext } from '../page-context.ts'
import { originOfMember, type Principal, principalOf } from '../session/principal.ts'
import {
  AuditQuery,
  auditQueryOf,
  filterOf,
  type ShownEntry,
  type ShownFilter,
  shownEntries,
} from './filter.ts'

const batchSize = 500

const formats = {
  csv: { type: 'text/csv; charset=utf-8', head: () => csvLine(columns), line: csvOf },
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    head: () => '',
    line: (entry: ShownEntry) => `${JSON.stringify(recordOf(entry))}\n`,
  },
} as const

/** The filtered audit log as a file, oldest first. The export is recorded before the first byte is sent. */
export function auditExport(app: FastifyInstance, { ports }: PageContext): void {
  for (const format of ['csv', 'ndjson'] as const) {
    app.get(
      `/audit/export.${format}`,
      pageRoute({ page: 'licenses:read', query: AuditQuery }),
      async (request, reply) => {
        const principal = principalOf(request)
        const view = { action: 'exported', target: { kind: 'audit', id: null } } as const
        await recordAudit(ports, principal.tenantId, view, originOfMember(request))
        const name = `audit-${principal.tenantId}-${momentOf(ports).slice(0, 10)}.${format}`
        reply
          .header('content-type', formats[format].type)
          .header('content-disposition', `attachment; filename="${name}"`)
        return reply.send(Readable.from(linesOf(ports, principal, auditQueryOf(request).shown, format)))
      },
    )
  }
}

async function* linesOf(
  ports: Ports<'db' | 'subjects'>,
  principal: Principal,
  shown: ShownFilter,
  format: keyof typeof formats,
): AsyncGenerator<string> {
  const { head, line } = formats[format]
  yield head()
  const filter = filterOf(shown)
  let after: PageStart | undefined
  do {
    const keyset = { after, limit: batchSize, order: 'oldest' } as const
    const page = await listAudit(ports.db, principal.tenantId, filter, keyset)
    const entries = await shownEntries(ports, principal, page.items)
    yield entries.map(line).join('')
    after = page.next
  } while (after)
}

const columns = [
  'time',
  'actor',
  'actor_name',
  'action',
  'target_kind',
  'target_id',
  'target_name',
  'as_of',
  'operation',
  'confirmation_id',
  'times',
  'last_time',
  'changes',
  'via',
  'address',
  'request_id',
] as const

type Value = Cell | ShownEntry['changes']

function recordOf(entry: ShownEntry): Record<(typeof columns)[number], Value> {
  return {
    time: entry.at,
    actor: entry.actor,
    actor_name: entry.who,
    action: entry.action,
    target_kind: entry.targetKind,
    target_id: entry.targetId,
    target_name: entry.targetName,
    as_of: entry.asOf,
    operation: entry.operation,
    confirmation_id: entry.confirmationId,
    times: entry.times,
    last_time: entry.lastAt,
    changes: entry.changes,
    via: entry.via,
    address: entry.address,
    request_id: entry.requestId,
  }
}

function csvOf(entry: ShownEntry): string {
  const record = recordOf(entry)
  return csvLine(columns.map((name) => cellOf(record[name])))
}

const cellOf = (value: Value): Cell => {
  if (!Array.isArray(value)) return value
  return value.length === 0 ? null : JSON.stringify(value)
}
