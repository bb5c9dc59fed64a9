/**
 * Guarantee: no connection is made to an address that must not be delivered to, in any notation, for any answer of a
 * name server, and for any redirect of a receiver: neither when the URL is set nor at a delivery.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { Socket } from 'node:net'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import type { AttemptResult } from '../../src/domain/deliveries/delivery.ts'
import { createConnections, post } from '../../src/webhooks/post.ts'
import { createTargetCheck } from '../../src/webhooks/targets.ts'
import { type StandIn, startStandIn } from '../harness/stand-in.ts'

/** Every address that a delivery of this test has tried to connect to; other files may share the process. */
let attempted: string[]
const deliveries = new AsyncLocalStorage<true>()
beforeEach(() => {
  attempted = []
  const connect = Socket.prototype.connect
  vi.spyOn(Socket.prototype, 'connect').mockImplementation(function (this: Socket, ...args: unknown[]) {
    if (deliveries.getStore()) this.on('connectionAttempt', (address: string) => attempted.push(address))
    return Reflect.apply(connect, this, args) as Socket
  })
})
afterEach(() => {
  vi.restoreAllMocks()
})

let inside: StandIn
let outside: StandIn
let location = ''
beforeAll(async () => {
  inside = await startStandIn(() => ({ status: 200, body: { secret: true } }))
  outside = await startStandIn(() => ({ status: 307, body: {}, headers: { location } }))
})
afterAll(async () => {
  await inside.close()
  await outside.close()
})

const names: Record<string, string[]> = {
  'loopback.example.com': ['127.0.0.1'],
  'loopback6.example.com': ['::1'],
  'private.example.com': ['10.0.0.7'],
  'metadata.example.com': ['169.254.169.254'],
  'mixed.example.com': ['93.184.215.14', '127.0.0.1'],
  'mixed6.example.com': ['2606:2800:220:1:248:1893:25c8:1946', 'fd00::1'],
  'mapped.example.com': ['::ffff:127.0.0.1'],
  'nat64.example.com': ['64:ff9b::7f00:1'],
  'sixtofour.example.com': ['2002:7f00:1::'],
  'unspecified.example.com': ['0.0.0.0'],
  'linklocal.example.com': ['fe80::1%eth0'],
  'multicast.example.com': ['224.0.0.1'],
  'nowhere.example.com': [],
}

const literals = [
  '127.0.0.1',
  '127.1',
  '127.255.255.254',
  '0x7f000001',
  '0x7f.0.0.1',
  '0177.0.0.1',
  '017700000001',
  '2130706433',
  '0',
  '0.0.0.0',
  '10.0.0.1',
  '10.255.255.255',
  '0xa.0.0.1',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.0.1',
  '192.168.257',
  '169.254.169.254',
  '0xa9fea9fe',
  '2852039166',
  '100.64.0.1',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '[::1]',
  '[::]',
  '[0:0:0:0:0:0:0:1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[::ffff:93.184.215.14]',
  '[::127.0.0.1]',
  '[fc00::1]',
  '[fd12:3456::1]',
  '[fe80::1]',
  '[fec0::1]',
  '[ff02::1]',
  '[64:ff9b::7f00:1]',
  '[64:ff9b:1::1]',
  '[2002:7f00:1::]',
  '[2001::1]',
  '[2001:db8::1]',
  '[3fff::1]',
  '[100::1]',
  '①②⑦.⓪.⓪.①',
  '127。0。0。1',
  'localhost',
  'LOCALHOST',
  'localhost.',
  'api.localhost',
]
const hostile = [
  ...literals.map((host) => `https://${host}/`),
  ...literals.slice(0, 3).map((host) => `https://${host}:22/`),
  ...Object.keys(names).map((name) => `https://${name}/`),
  'https://loopback.example.com.:6379/',
  'https://ada:secret@127.0.0.1/',
  'https://93.184.215.14@127.0.0.1/',
  'https://ada@public.example.com/',
  'http://127.0.0.1/',
  'http://public.example.com/',
  'ftp://127.0.0.1/',
  'file:///etc/passwd',
  'gopher://127.0.0.1:11211/',
]
const strict = { allowPrivate: false }
const resolve = async (host: string) => names[host.replace(/\.$/, '')] ?? ['93.184.215.14']
const limits = { timeLimitMs: 1000, confidential: [] }
const once = async (url: string, ...[resolver, rules]: Parameters<typeof createConnections>) => {
  const agent = createConnections(resolver, rules)
  try {
    const request = { url: new URL(url), headers: {}, body: '{}' }
    return await deliveries.run(true, () => post(agent, rules, request, limits))
  } finally {
    await agent.destroy()
  }
}
const errorIn = (result: AttemptResult) => (result.outcome === 'failed' ? result.error : result.outcome)

test('more than 60 hostile URLs are tested', () => expect(new Set(hostile).size).toBeGreaterThan(60))

test.each(hostile)('%s is not connected to', async (url) => {
  expect(['target_refused', 'name_not_found']).toContain(errorIn(await once(url, resolve, strict)))
  expect(attempted).toStrictEqual([])
  // A name without an address may be set: it is resolved at each delivery.
  if (!url.includes('nowhere')) {
    expect(await createTargetCheck(resolve, strict)(new URL(url))).toBeDefined()
  }
})

test('a name that resolves to a private address after the URL was set is not connected to', async () => {
  let asked = 0
  const rebinding = async () => (asked++ === 0 ? ['93.184.215.14'] : ['127.0.0.1'])
  const url = 'https://rebinding.example.com/'
  expect(await createTargetCheck(rebinding, strict)(new URL(url))).toBeUndefined()
  expect(errorIn(await once(url, rebinding, strict))).toBe('target_refused')
  expect(attempted).toStrictEqual([])
})

test('a name is resolved once, and the connection uses the checked address', async () => {
  let asked = 0
  const rebinding = async () => (asked++ === 0 ? ['127.0.0.1'] : ['10.0.0.1'])
  const url = inside.url.replace('127.0.0.1', 'rebinding.example.com')
  expect(await once(url, rebinding, { allowPrivate: true })).toMatchObject({ outcome: 'delivered' })
  expect({ asked, attempted }).toStrictEqual({ asked: 1, attempted: ['127.0.0.1'] })
})

test.each(['same host', 'http://127.0.0.1:1/', 'http://[::1]/', 'https://169.254.169.254/latest/meta-data/'])(
  'a redirect to %s is not followed',
  async (to) => {
    location = to === 'same host' ? `${outside.url}/elsewhere` : to
    outside.asked.length = 0
    expect(errorIn(await once(`${outside.url}/`, resolve, { allowPrivate: true }))).toBe('redirect')
    expect(outside.asked.map(({ path }) => path)).toStrictEqual(['/'])
    expect(attempted).toStrictEqual(['127.0.0.1'])
  },
)
