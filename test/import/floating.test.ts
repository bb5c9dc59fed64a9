/**
 * Guarantee: licenses whose seats float at Keygen or Cryptlex float here, for the same period. Where devices keep their places there, they
 * keep their seats here.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { type Imports, openImports } from './imports.ts'

let imports: Imports
beforeAll(async () => {
  imports = await openImports()
})
afterAll(() => imports.close())

const recorded = (name: string) => fileURLToPath(new URL(`recorded/${name}`, import.meta.url))

/** What was recorded, with one file changed: each pair of texts is replaced throughout. */
function changed(name: 'keygen' | 'cryptlex', pairs: readonly (readonly [string, string])[]): string {
  const directory = recorded(name)
  const files = readdirSync(directory).map((file) => {
    const text = readFileSync(`${directory}/${file}`, 'utf8')
    return [file, pairs.reduce((read, [from, to]) => read.replaceAll(from, to), text)] as const
  })
  return imports.exported(Object.fromEntries(files))
}

const KeyTypes = z.object({
  keyTypes: z.array(
    z.looseObject({
      name: z.string(),
      seatPolicy: z.string().optional(),
      floatingSeats: z.unknown().optional(),
    }),
  ),
})

/** How the seats of each key type float after an import, by its name; undefined where they do not. */
async function imported(name: 'keygen' | 'cryptlex', pairs: readonly (readonly [string, string])[]) {
  const vendor = await imports.vendor()
  const { tally, report } = await imports.run(vendor, name, changed(name, pairs), { apply: true })
  const { body } = await imports.api.ask('GET', '/v1/products/editor/key-types', { token: vendor.token })
  const keyTypes = KeyTypes.parse(body).keyTypes.map(
    ({ name: of, floatingSeats }) => [of, floatingSeats] as const,
  )
  const { rows } = await imports.api.ledger.db.query<{ seats: number }>(
    `select count(*)::int as seats from devices d
     where d.tenant_id = $1 and d.status = 'active' and d.fence is not null`,
    [vendor.tenantId],
  )
  return {
    tally,
    report: JSON.stringify(report),
    keyTypes: new Map(keyTypes),
    fenced: rows[0]?.seats,
  }
}

const leased = [
  ['"requireHeartbeat": false', '"requireHeartbeat": true'],
  ['"heartbeatDuration": null', '"heartbeatDuration": 1200'],
] as const
const floating = (seatSeconds: number, scope: string) => ({ seatSeconds, overdraft: null, scope })

test('a floating policy of Keygen whose machines need heartbeats floats, with its machines in seats', async () => {
  const { keyTypes, fenced, tally } = await imported('keygen', leased)
  expect(keyTypes.get('Pro')).toStrictEqual(floating(1200, 'device'))
  expect(keyTypes.get('Trial')).toBeUndefined()
  expect(fenced).toBeGreaterThan(0)
  expect(tally.devices).toBeGreaterThanOrEqual(fenced ?? 0)
})

test.each<[why: string, pairs: (readonly [string, string])[]]>([
  ['need no heartbeats', []],
  [
    'are kept when their heartbeats stop',
    [...leased, ['"floating": true', '"heartbeatCullStrategy": "KEEP_DEAD", "floating": true']],
  ],
])('a floating policy of Keygen whose machines %s does not float here', async (_, pairs) => {
  const { keyTypes, fenced } = await imported('keygen', pairs)
  expect(keyTypes.get('Pro')).toBeUndefined()
  expect(fenced).toBe(0)
})

test('machines that Keygen counts for each user are reported', async () => {
  const { report } = await imported('keygen', [
    ['"machineLeasingStrategy": "PER_LICENSE"', '"machineLeasingStrategy": "PER_USER"'],
  ])
  expect(report).toContain('Its limit of machines is for each user there; here all its users share it.')
})

test('a hosted floating license of Cryptlex floats for its lease, and one on premise without its servers', async () => {
  const hosted = await imported('cryptlex', [
    ['"leasingStrategy": "per-machine"', '"leasingStrategy": "per-instance"'],
  ])
  expect(hosted.keyTypes.get('Floating')).toStrictEqual(floating(3600, 'process'))
  const onPremise = await imported('cryptlex', [
    ['hosted-floating', 'on-premise-floating'],
    ['"leaseDuration": 3600', '"leaseDuration": 0'],
  ])
  expect(onPremise.keyTypes.get('Floating')).toStrictEqual(floating(600, 'device'))
  expect(onPremise.report).toContain('Its activations are left out: they are of license servers')
})

test('a license of Cryptlex that differs from its template in this is reported', async () => {
  const node = await imported('cryptlex', [['"licenseTemplateId": "t-2"', '"licenseTemplateId": "t-1"']])
  expect(node.report).toContain('It is floating there, unlike its template')
  const floats = await imported('cryptlex', [['"licenseTemplateId": "t-1"', '"licenseTemplateId": "t-2"']])
  expect(floats.report).toContain('It is not floating there, unlike its template')
})
