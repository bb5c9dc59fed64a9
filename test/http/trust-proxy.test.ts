/** Guarantee: a caller's address is that of its socket, unless a trusted proxy forwards another one. */
import { afterEach, expect, test } from 'vitest'
import { showApproval } from '../../src/gate/approvals.ts'
import { makeTenant, openTestApi, type TestApi } from '../harness/api.ts'
import { pendingId } from '../harness/gate.ts'
import { makeProduct, mint } from './samples.ts'

let api: TestApi
afterEach(() => api.close())

/** The address shown to an approver for a caller at 127.0.0.1 that claims another one. */
async function addressShown(
  trustProxy?: string[],
  forwarded = '198.51.100.1, 203.0.113.7',
): Promise<string | null> {
  api = await openTestApi(trustProxy && { trustProxy })
  const { token, tenantId } = await makeTenant(api.ledger)
  await makeProduct(api.ask, token, 'editor')
  const { id } = await mint(api.ask, token, 'editor')
  const headers = { 'x-forwarded-for': forwarded }
  const asked = await api.ask('POST', `/v1/licenses/${id}/revoke`, { token, headers })
  return (await showApproval(api.ledger.ports, tenantId, pendingId(asked))).client.address
}

test('a forwarded address is not trusted by default', async () =>
  expect(await addressShown()).toBe('127.0.0.1'))

test('a forwarded address is not trusted from a caller that is not the proxy', async () =>
  expect(await addressShown(['10.0.0.0/8'])).toBe('127.0.0.1'))

test('a forwarded address is trusted from the proxy', async () =>
  expect(await addressShown(['loopback', '10.0.0.0/8'])).toBe('203.0.113.7'))

test('an IPv4-mapped IPv6 address from the proxy is shown as IPv4', async () =>
  expect(await addressShown(['loopback'], '::FFFF:203.0.113.7')).toBe('203.0.113.7'))

test('all spellings of one IPv4 address share one rate limit', async () => {
  api = await openTestApi()
  const start = async (remoteAddress: string) =>
    (await api.app.inject({ method: 'POST', url: '/v1/login/device', payload: {}, remoteAddress })).statusCode
  const written = ['198.51.100.9', '::ffff:198.51.100.9', '::FFFF:C633:6409', '0:0:0:0:0:ffff:198.51.100.9']
  const statuses: number[] = []
  for (let calls = 0; calls < 24; calls++) statuses.push(await start(written[calls % 4] ?? ''))
  // Twenty at once from one address.
  expect(statuses).toStrictEqual([...Array.from({ length: 20 }, () => 200), 429, 429, 429, 429])
})
