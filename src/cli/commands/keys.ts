import type { Command } from 'commander'
import { listSigningKeys } from '../../../projections/signing.ts'
import { findTenant } from '../../../projections/tenants.ts'
import { withStores } from '../../app/with-stores.ts'
import { recordAudit } from '../../commands/audit.ts'
import { issueCheckoutKey, revealSdkKey } from '../../commands/client-keys.ts'
import { momentOf } from '../../commands/origin.ts'
import { prepareSigningKey, rotateSigningKey } from '../../commands/signing-keys.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { KeyState } from '../../domain/signing/signing.ts'
import type { Ports } from '../../ports.ts'
import { type OutputOptions, print, table } from '../../terminal/output.ts'
import { topCommand } from '../context.ts'
import { hostOptionsIn } from '../host-form.ts'

type TenantOptions = OutputOptions & { tenant: string }

/**
 * `keyledger keys …`, `checkout-key …`: a tenant's signing keys, and the key of its servers.
 */
export function keyCommands(program: Command): void {
  const keys = topCommand(program, 'keys')

  keys
    .command('list')
    .description('List signing keys, oldest first')
    .requiredOption('--tenant <id>')
    .option('--json', 'print an array of {kid, status, publicKey, signsFrom, signsUntil, publishedUntil}')
    .action((options: TenantOptions) =>
      withStores(async ({ ports }) => {
        await requireTenant(ports, options.tenant)
        await printKeys(ports, options)
      }),
    )

  keys
    .command('prepare')
    .description(
      'Publish the next key, which signs only after `keys rotate`; for apps that ship with the keys',
    )
    .requiredOption('--tenant <id>')
    .option('--json', 'print an array of {kid, status, publicKey, signsFrom, signsUntil, publishedUntil}')
    .action((options: TenantOptions) =>
      withStores(async ({ ports }, origin) => {
        await requireTenant(ports, options.tenant)
        await prepareSigningKey(ports, options.tenant, origin)
        await printKeys(ports, options)
      }),
    )

  keys
    .command('rotate')
    .description('Let the prepared key sign, or publish a new one; it signs once every cached keyset has it')
    .requiredOption('--tenant <id>')
    .option('--json', 'print an array of {kid, status, publicKey, signsFrom, signsUntil, publishedUntil}')
    .action((options: TenantOptions) =>
      withStores(async ({ ports }, origin) => {
        await requireTenant(ports, options.tenant)
        await rotateSigningKey(ports, options.tenant, origin)
        await printKeys(ports, options)
      }),
    )

  topCommand(program, 'checkout-key')
    .command('create')
    .description('Replace the checkout key and print the new one; the previous one stops working')
    .requiredOption('--tenant <id>')
    .option('--json', 'print {checkoutKey}')
    .action((options: TenantOptions) =>
      withStores(async ({ ports }, origin) => {
        const { checkoutKey } = await issueCheckoutKey(ports, options.tenant, origin)
        print(options, { checkoutKey }, () => [checkoutKey])
      }),
    )
}

/** `keyledger sdk-key show --tenant <id>`: the key that identifies a tenant's apps; creates the first one. */
export function showSdkKeyOnHost(_: readonly string[], given: Record<string, unknown>): Promise<void> {
  const options = hostOptionsIn({}, given)
  return withStores(async ({ ports }, origin) => {
    const sdkKey = await revealSdkKey(ports, options.tenant, origin.requestId, origin)
    const target = { kind: 'sdk-key', id: null } as const
    await recordAudit(ports, options.tenant, { action: 'revealed', target }, origin)
    print(options, { sdkKey }, () => [sdkKey])
  })
}

async function requireTenant({ db }: Ports<'db'>, tenantId: string): Promise<void> {
  if (!(await findTenant(db, tenantId))) throw new Refusal('tenant_not_found')
}

async function printKeys(ports: Ports<'db' | 'now'>, options: TenantOptions): Promise<void> {
  const keys = await listSigningKeys(ports.db, options.tenant, momentOf(ports))
  print(options, keys.map(keyView), () =>
    keys.length === 0
      ? ['No signing keys yet. The first one is created when it is first needed.']
      : table([
          ['KEY', 'STATUS', 'SIGNS FROM', 'SIGNS UNTIL', 'PUBLISHED UNTIL'],
          ...keys.map(({ kid, status, signsFrom, signsUntil, publishedUntil }) => [
            kid,
            status,
            signsFrom ?? 'keys rotate',
            signsUntil ?? '-',
            publishedUntil ?? '-',
          ]),
        ]),
  )
}

const keyView = ({ secretName: _, ...key }: KeyState) => key
