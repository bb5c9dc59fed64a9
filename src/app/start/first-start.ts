import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { firstStartLock } from '../../../projections/database/advisory-locks.ts'
import { withConnection } from '../../../projections/database/connection.ts'
import { listTenants } from '../../../projections/tenants.ts'
import { addMember, findMemberByEmail, type IssuedLink, issueLink } from '../../commands/members/members.ts'
import type { Origin } from '../../commands/origin.ts'
import { createProduct } from '../../commands/products.ts'
import { createTenant, renameTenant } from '../../commands/tenants.ts'
import { createToken } from '../../commands/tokens.ts'
import type { Config } from '../../config.ts'
import { newId } from '../../credentials/id.ts'
import { welcomePath } from '../../dashboard/welcome/route.ts'
import { demo } from '../../domain/products/demo.ts'
import { defaultKeyType } from '../../domain/products/key-type.ts'
import { isNamed } from '../../domain/tenants/tenant.ts'
import { combinableScopes } from '../../domain/tokens/events.ts'
import type { Ports } from '../../ports.ts'
import type { Stores } from '../stores.ts'

const ownerEmail = 'owner@demo.example'

const markerName = 'welcomed'

/**
 * On the first start of an embedded ledger, creates the tenant `demo` and prints how to use it. The marker file is
 * written last, so the next start completes one that was killed; it then creates a new token and a new link,
 * because the first ones may never have been shown. Later starts print the addresses again, and how to get a new link. A lock makes sure that only one of several processes does this.
 * @param name the name of the new workspace; later starts do not rename it, and say so
 */
export async function greet(
  config: Config,
  { db, ports }: Pick<Stores, 'db' | 'ports'>,
  address: string,
  print: (text: string) => Promise<void>,
  name?: string,
): Promise<void> {
  const marker = join(config.dataDirectory, markerName)
  if (config.eventstoreUrl !== undefined) return
  if (existsSync(marker)) return print(returning(address, name))
  await withConnection(
    db,
    async (connection) => {
      await connection.query('select pg_advisory_lock($1)', [firstStartLock])
      if (existsSync(marker)) return print(returning(address, name))
      const seeded = await seed(ports, name)
      if (seeded === undefined) return name === undefined ? undefined : print(notRenamed(name))
      await print(welcome(address, seeded))
      writeFileSync(marker, '', { mode: 0o600 })
    },
    // Releases the lock in any state.
    { close: true },
  )
}

/**
 * Marks a ledger as welcomed that is not new although this installation has never started it, such as a restored
 * one.
 */
export function markWelcomed({ dataDirectory, eventstoreUrl }: Config): void {
  if (eventstoreUrl === undefined) writeFileSync(join(dataDirectory, markerName), '', { mode: 0o600 })
}

/** What the first tenant is made with. */
type SeedPorts = Ports<
  'db' | 'execute' | 'findProduct' | 'ledger' | 'now' | 'planCapacity' | 'randomBytes' | 'subjects'
>

type Seeded = { token: string; linkSecret: string }

/** @returns a token and the owner's link of the tenant `demo`, or undefined when the ledger has other tenants */
async function seed(ports: SeedPorts, name: string | undefined): Promise<Seeded | undefined> {
  const tenants = await listTenants(ports.db)
  if (tenants.some(({ tenantId }) => tenantId !== demo.tenantId)) return undefined
  const { tenantId } = demo
  const origin: Origin = { requestId: newId('req'), actor: 'system:first-start' }
  const [existing] = tenants
  if (!existing) await createTenant(ports, { tenantId, name: name ?? 'Demo', plan: 'unlimited' }, origin)
  else if (name !== undefined && !isNamed(existing)) await renameTenant(ports, tenantId, name, origin)
  if (!(await ports.findProduct(tenantId, demo.productId))) await makeProduct(ports, origin)
  const { secret: linkSecret } = await makeOwner(ports, origin)
  const input = { tenantId, name: 'first start', scopes: combinableScopes, expiresAt: null }
  const { token } = await createToken(ports, input, origin)
  return { token, linkSecret }
}

async function makeProduct(
  ports: Ports<'execute' | 'findProduct' | 'now' | 'planCapacity'>,
  origin: Origin,
): Promise<void> {
  const keyType = {
    ...defaultKeyType,
    keyTypeId: demo.keyTypeId,
    name: 'Pro',
    deviceLimit: 2,
    entitlements: ['pro'],
  }
  await createProduct(
    ports,
    {
      tenantId: demo.tenantId,
      plan: 'unlimited',
      productId: demo.productId,
      name: 'Demo App',
      keyPrefix: 'DEMO',
      settings: {},
      keyTypes: [keyType],
    },
    origin,
  )
}

async function makeOwner(
  ports: Ports<'db' | 'execute' | 'ledger' | 'now' | 'randomBytes' | 'subjects'>,
  origin: Origin,
): Promise<IssuedLink> {
  const { tenantId } = demo
  const found = await findMemberByEmail(ports, tenantId, ownerEmail)
  const input = { tenantId, role: 'owner', email: ownerEmail } as const
  const memberId = found?.memberId ?? (await addMember(ports, input, origin))
  return issueLink(ports, tenantId, memberId, 'invitation', origin)
}

/** Says what `--name` of a later start did not do. */
const notRenamed = (name: string): string =>
  [
    '',
    `The workspace was not renamed: --name names the one that a first start creates. Rename it under Settings, or:`,
    '',
    `  npx keyledger tenant rename TENANT '${name.replaceAll("'", String.raw`'\''`)}'`,
    '',
  ].join('\n')

/** What every later start prints. */
const returning = (address: string, name: string | undefined): string =>
  [
    '',
    `keyledger is listening on ${address}. API reference: ${address}/docs`,
    `Dashboard: ${address}/dashboard`,
    '',
    'Lost your sign-in? Create a new one-time link on this machine, with your email address and tenant ID:',
    '',
    '  npx keyledger member link EMAIL --tenant TENANT',
    ...(name === undefined ? [] : [notRenamed(name)]),
    '',
    '',
  ].join('\n')

function welcome(address: string, { token, linkSecret }: Seeded): string {
  const post = (path: string, body: object) =>
    `curl -s ${address}${path} -H 'Authorization: Bearer ${token}' \\\n` +
    `  -H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`
  const device = { product_id: demo.productId, license_key: 'KEY', device_id: 'laptop' }
  return [
    '',
    `keyledger is listening on ${address}. API reference: ${address}/docs`,
    '',
    'Created the tenant `demo` with the product `demo-app`. Its access token, shown only once:',
    '',
    `  ${token}`,
    '',
    `Dashboard: ${address}/dashboard. Sign in as ${ownerEmail} with this one-time link, valid for 72 hours:`,
    '',
    `  ${address}${welcomePath(linkSecret)}`,
    '',
    `Lost the link? npx keyledger member link ${ownerEmail} --tenant demo`,
    '',
    '# mint a license (use its licenseKey in place of KEY below)',
    post('/v1/licenses', { productId: demo.productId }),
    '',
    '# activate a device',
    post('/v1/licenses/activate', { ...device, name: 'Laptop' }),
    '',
    '# validate the license',
    post('/v1/licenses/validate', device),
    '',
    '',
  ].join('\n')
}
