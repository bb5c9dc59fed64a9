import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import { findTenant } from '../../../projections/tenants.ts'
import { type FedEvent, readFeed } from '../../api/management/events.ts'
import { withStores } from '../../app/with-stores.ts'
import { recordAudit } from '../../commands/audit.ts'
import { Refusal } from '../../domain/refusal.ts'
import { createCursors } from '../../http/cursor.ts'
import { untilInterrupted } from '../../terminal/interruption.ts'
import { asLine, inJson, type OutputOptions, outputCut, printToStderr } from '../../terminal/output.ts'
import { topCommand } from '../context.ts'

type TailOptions = OutputOptions & { tenant: string; after?: string; follow: boolean }

const pageSize = 100
const pauseMs = 500

/** `keyledger events …`: every event of the licenses, read from the ledger. */
export function eventCommands(program: Command): void {
  const events = topCommand(program, 'events')

  events
    .command('tail')
    .description('Print every event of the licenses, oldest first, then new events as they occur')
    .requiredOption('--tenant <id>')
    .option('--after <cursor>', 'start after this cursor, as in GET /v1/events')
    .option('--no-follow', 'stop after the last existing event')
    .option('--json', 'print one {event, cursor} per line')
    .action(tail)
}

async function tail({ tenant, after, follow, json = false }: TailOptions): Promise<void> {
  const { signal } = untilInterrupted()
  await withStores(async ({ ports, readModels, masterKey }, origin) => {
    if (!(await findTenant(ports.db, tenant))) throw new Refusal('tenant_not_found')
    const target = { kind: 'licenses', id: null } as const
    await recordAudit(ports, tenant, { action: 'viewed', target }, origin)
    const cursors = createCursors(masterKey.cursors)
    let last = after
    while (!signal.aborted) {
      // No server may be running that would apply the last events.
      await readModels.catchUp()
      const { items, more } = await readFeed(ports, cursors, tenant, { after: last, limit: pageSize })
      last = items.at(-1)?.cursor ?? last
      await write(
        items.map(({ event, cursor }) => (json ? inJson({ event, cursor }) : asLine(lineOf(event)))),
      )
      if (more) continue
      if (!follow) break
      await setTimeout(pauseMs, undefined, { signal }).catch(() => undefined)
    }
    if (last !== undefined && !json && !outputCut.aborted) printToStderr(`Continue with --after ${last}`)
  })
}

/** Waits while the reader of stdout is slow, so that at most one page is in memory. */
async function write(lines: readonly string[]): Promise<void> {
  if (lines.length === 0 || process.stdout.write(`${lines.join('\n')}\n`)) return
  await once(process.stdout, 'drain', { signal: outputCut }).catch((error: unknown) => {
    if (!outputCut.aborted) throw error
  })
}

function lineOf({ created, event, license_id, ...particular }: FedEvent): string {
  const about = 'device_name' in particular ? particular.device_name : ''
  return [new Date(created * 1000).toISOString(), event.padEnd(19), license_id, about].join('  ').trimEnd()
}
