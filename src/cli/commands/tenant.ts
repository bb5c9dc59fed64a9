import type { Command } from 'commander'
import { z } from 'zod'
import { listTenants } from '../../../projections/tenants.ts'
import { withStores } from '../../app/with-stores.ts'
import {
  changeConfirmationLifetime,
  closeTenant,
  createTenant,
  reinstateTenant,
  renameTenant,
  suspendTenant,
} from '../../commands/tenants.ts'
import { longestLifetimeSeconds, shortestLifetimeSeconds } from '../../domain/confirmations/events.ts'
import { Plan, TenantName } from '../../domain/tenants/events.ts'
import { Slug } from '../../domain/values.ts'
import { wholeNumberIn } from '../../numbers.ts'
import { type OutputOptions, print, table } from '../../terminal/output.ts'
import { parsed } from '../arguments.ts'
import { topCommand } from '../context.ts'

/** `keyledger tenant …`: the vendors on this installation. */
export function tenantCommands(program: Command): void {
  const tenant = topCommand(program, 'tenant')

  tenant
    .command('create <id>')
    .description('Create a tenant')
    .option('--name <name>', 'display name; defaults to the id')
    .option('--plan <plan>', 'free, team or unlimited', 'unlimited')
    .option('--json', 'print {tenantId}')
    .action(async (id: string, options: OutputOptions & { name?: string; plan: string }) => {
      const tenantId = parsed(Slug, id, 'the tenant id')
      const plan = parsed(Plan, options.plan, '--plan')
      const name = parsed(TenantName, options.name ?? tenantId, '--name')
      await withStores(async ({ ports }, origin) => {
        await createTenant(ports, { tenantId, name, plan }, origin)
        print(options, { tenantId }, () => [`Created tenant ${tenantId} on the plan ${plan}.`])
      })
    })

  tenant
    .command('list')
    .description('List tenants, oldest first')
    .option('--json', 'print an array')
    .action((options: OutputOptions) =>
      withStores(async ({ ports }) => {
        const tenants = await listTenants(ports.db)
        print(options, tenants, () =>
          table([
            ['TENANT', 'STATUS', 'PLAN', 'SINCE', 'NAME'],
            ...tenants.map(({ tenantId, status, plan, createdAt, name }) => [
              tenantId,
              status,
              plan,
              createdAt,
              name,
            ]),
          ]),
        )
      }),
    )

  tenant
    .command('rename <id> <name>')
    .description('Rename a tenant; its id stays the same')
    .option('--json', 'print {tenantId, name}')
    .action((tenantId: string, given: string, options: OutputOptions) => {
      const name = parsed(TenantName, given, 'the name')
      return withStores(async ({ ports }, origin) => {
        await renameTenant(ports, tenantId, name, origin)
        print(options, { tenantId, name }, () => [`Tenant ${tenantId} is now named ${name}.`])
      })
    })

  tenant
    .command('approvals <id>')
    .description('Set how long requests of a tenant can be approved')
    .requiredOption('--time <duration>', 'from 10 minutes up to 24 hours: 30m, 8h, 24h')
    .option('--json', 'print {tenantId, confirmationSeconds}')
    .action((tenantId: string, options: OutputOptions & { time: string }) => {
      const confirmationSeconds = parsed(Lifetime, options.time, '--time')
      return withStores(async ({ ports }, origin) => {
        await changeConfirmationLifetime(ports, tenantId, confirmationSeconds, origin)
        print(options, { tenantId, confirmationSeconds }, () => [
          `New requests of tenant ${tenantId} can be approved for ${options.time}.`,
        ])
      })
    })

  lifecycle(tenant)
}

/** `30m` or `8h`, in seconds. */
const Lifetime = z
  .string()
  .regex(/^\d{1,5}[mh]$/, 'must be minutes or hours, such as 30m or 8h')
  .transform((text) => (wholeNumberIn(text.slice(0, -1), 0, 99_999) ?? 0) * (text.endsWith('h') ? 3600 : 60))
  .pipe(
    z
      .int()
      .min(shortestLifetimeSeconds, 'must be at least 10m')
      .max(longestLifetimeSeconds, 'must be at most 24h'),
  )

function lifecycle(tenant: Command): void {
  tenant
    .command('suspend <id>')
    .description('Suspend a tenant: no minting, sales or activations; validates continue')
    .option('--reason <text>')
    .option('--json', 'print {tenantId, status}')
    .action((tenantId: string, options: OutputOptions & { reason?: string }) =>
      withStores(async ({ ports }, origin) => {
        await suspendTenant(ports, tenantId, options.reason ?? null, origin)
        print(options, { tenantId, status: 'suspended' }, () => [`Tenant ${tenantId} is suspended.`])
      }),
    )

  tenant
    .command('reinstate <id>')
    .description('Reinstate a suspended tenant')
    .option('--json', 'print {tenantId, status}')
    .action((tenantId: string, options: OutputOptions) =>
      withStores(async ({ ports }, origin) => {
        await reinstateTenant(ports, tenantId, origin)
        print(options, { tenantId, status: 'active' }, () => [`Tenant ${tenantId} is active.`])
      }),
    )

  tenant
    .command('close <id>')
    .description('Close a tenant permanently: only its keyset is still served')
    .option('--reason <text>')
    .option('--json', 'print {tenantId, status}')
    .action((tenantId: string, options: OutputOptions & { reason?: string }) =>
      withStores(async ({ ports }, origin) => {
        await closeTenant(ports, tenantId, options.reason ?? null, origin)
        print(options, { tenantId, status: 'closed' }, () => [`Tenant ${tenantId} is closed.`])
      }),
    )
}
