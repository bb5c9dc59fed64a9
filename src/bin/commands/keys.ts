import type { Command } from 'commander'
import { listSigningKeys } from '../../../projections/signing/queries.ts'
import { findTenant } from '../../../projections/tenants/queries.ts'
import { issueCheckoutKey, revealSdkKey } from '../../commands/client-keys.ts'
import { momentOf, type Services } from '../../commands/services.ts'
import { rotateSigningKey } from '../../commands/signing-keys.ts'
import { Refusal } from '../../domain/refusal.ts'
import type { KeyState } from '../../domain/signing/signing.ts'
import { type OutputOptions, print, table } from '../output.ts'
import { withStores } from '../with-stores.ts'

type TenantOptions = OutputOptions & { tenant: string }

/** `keyledger keys …`, `sdk-key …`, `checkout-key …`: what a tenant signs with, and what its apps and servers are known by. */
export function keyCommands(program: Command): void {
  const keys = program.command('keys').description('The keys that leases and settings are signed with')

  keys
    .command('list')
    .description('List signing keys, oldest first')
    .requiredOption('--tenant <id>')
    .option('--json', 'print an array of {kid, status, publicKey, signsFrom, signsUntil, publishedUntil}')
    .action((options: TenantOptions) =>
      withStores(async ({ services }) => {
        await requireTenant(services, options.tenant)
        await printKeys(services, options)
      }),
    )

  keys
    .command('rotate')
    .description('Publish another key; it signs as soon as every kept keyset has it')
    .requiredOption('--tenant <id>')
    .option('--json', 'print an array of {kid, status, publicKey, signsFrom, signsUntil, publishedUntil}')
    .action((options: TenantOptions) =>
      withStores(async ({ services }, origin) => {
        await requireTenant(services, options.tenant)
        await rotateSigningKey(services, options.tenant, origin)
        await printKeys(services, options)
      }),
    )

  program
    .command('sdk-key')
    .description('The key by which apps of a tenant are known')
    .command('show')
    .description('Print the live SDK key; a tenant without one gets its first')
    .requiredOption('--tenant <id>')
    .option('--json', 'print {sdkKey}')
    .action((options: TenantOptions) =>
      withStores(async ({ services }, origin) => {
        const sdkKey = await revealSdkKey(services, options.tenant, origin.requestId, origin)
        print(options, { sdkKey }, () => [sdkKey])
      }),
    )

  program
    .command('checkout-key')
    .description("The key with which a vendor's own server sends customers to pay")
    .command('create')
    .description('Print another checkout key; the former one is good no more')
    .requiredOption('--tenant <id>')
    .option('--json', 'print {checkoutKey}')
    .action((options: TenantOptions) =>
      withStores(async ({ services }, origin) => {
        const { checkoutKey } = await issueCheckoutKey(services, options.tenant, origin)
        print(options, { checkoutKey }, () => [checkoutKey])
      }),
    )
}

async function requireTenant({ db }: Services, tenantId: string): Promise<void> {
  if (!(await findTenant(db, tenantId))) throw new Refusal('tenant_not_found')
}

async function printKeys(services: Services, options: TenantOptions): Promise<void> {
  const keys = await listSigningKeys(services.db, options.tenant, momentOf(services))
  print(options, keys.map(keyView), () =>
    keys.length === 0
      ? ['There is none yet. The first one is made when it is first needed.']
      : table([
          ['KEY', 'STATUS', 'SIGNS FROM', 'SIGNS UNTIL', 'PUBLISHED UNTIL'],
          ...keys.map(({ kid, status, signsFrom, signsUntil, publishedUntil }) => [
            kid,
            status,
            signsFrom,
            signsUntil ?? '-',
            publishedUntil ?? '-',
          ]),
        ]),
  )
}

const keyView = ({ secretName: _, ...key }: KeyState) => key
