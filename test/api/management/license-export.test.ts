/**
 * Guarantee: an export contains every license of the tenant once, as in lists, without a limit; it is returned once
 * per approval, is produced no faster than it is read, and never looks complete when it is not.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { revokeLicense } from '../../../src/commands/licenses/licenses.ts'
import { undo } from '../../../src/commands/licenses/undo.ts'
import { approve, listApprovals, showApproval } from '../../../src/gate/approvals.ts'
import type { AllPorts } from '../../../src/ports.ts'
import { createTestApp, makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { approver, askApproveRepeat, confirmed, pendingId } from '../../harness/gate.ts'
import { origin } from '../../harness/ledger.ts'
import { parseCsv } from '../../http/parse-csv.ts'
import { makeProduct, mint } from '../../http/samples.ts'

let api: TestApi
let tenant: TestTenant
const rawKeys: string[] = []
beforeAll(async () => {
  api = await openTestApi()
  tenant = await makeTenant(api.ledger)
  const { ask, ledger } = api
  const entitlements = ['export', 'sync']
  const entitlementValues = { sync: 'two, "three"' }
  const updates = { count: 1, unit: 'year' }
  const keyTypes = [{ name: 'Pro', deviceLimit: 2, entitlements, entitlementValues, updates }]
  await makeProduct(ask, tenant.token, 'editor', { keyTypes, name: 'Acme Editor' })
  await makeProduct(ask, tenant.token, 'player')
  const asked: [string, Record<string, unknown>][] = [
    ['editor', {}],
    ['editor', { email: 'ada@example.com', name: 'Ada', metadata: { note: 'says "hi", twice\r\nor so' } }],
    ['editor', { email: '+1@example.com', metadata: { '=1+1': '=1+1' }, expiresAt: '2026-03-01T13:00:00Z' }],
    ['player', { deviceLimit: null }],
    ['player', {}],
  ]
  for (const [productId, fields] of asked) {
    ledger.clock.advance(1)
    const { id, licenseKey } = await mint(ask, tenant.token, productId, fields)
    rawKeys.push(licenseKey)
    if (productId === 'player') await revokeLicense(ledger.ports, tenant.tenantId, id, null, origin)
  }
  const stranger = await makeTenant(ledger)
  await makeProduct(ask, stranger.token, 'editor')
  await mint(ask, stranger.token, 'editor')
})
afterAll(() => api.close())

const License = z.looseObject({ id: z.string() })
const exported = (query = '', of = tenant) => askApproveRepeat(api, of, 'GET', `/v1/licenses/export${query}`)

async function listed(query = ''): Promise<unknown[]> {
  const { body } = await api.ask('GET', `/v1/licenses?limit=100${query}`, { token: tenant.token })
  return z.object({ items: z.array(License), nextCursor: z.null() }).parse(body).items
}

const linesOf = (ndjson: string): unknown[] =>
  ndjson
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as unknown)

describe('an export', () => {
  test('as JSON lines contains every license of the tenant as in lists, newest first', async () => {
    const answer = await exported()
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/x-ndjson; charset=utf-8',
      'content-disposition': 'attachment; filename="licenses-2026-03-01.ndjson"',
      'cache-control': 'no-store',
    })
    expect(linesOf(answer.text)).toStrictEqual(await listed())
    expect(answer.text.endsWith('\n')).toBe(true)
  })

  test('as CSV contains the same in columns', async () => {
    const answer = await exported('?format=csv')
    expect(answer.headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="licenses-2026-03-01.csv"',
    })
    const [head = [], ...rows] = parseCsv(answer.text)
    const fields = z.record(z.string(), z.unknown())
    const asText = (value: unknown): string => {
      if (Array.isArray(value)) return value.join(' ')
      if (typeof value === 'object' && value !== null) return JSON.stringify(value)
      const plain = value === null || value === undefined ? '' : String(value as string | number | boolean)
      return plain.startsWith('+') ? `'${plain}` : plain
    }
    const expected = (await listed()).map((license) => {
      const values = fields.parse(license)
      expect(Object.keys(values).filter((field) => !head.includes(field))).toStrictEqual([])
      return head.map((column) => asText(values[column]))
    })
    expect(rows).toStrictEqual(expected)
    expect(head.join()).toMatch(/entitlementValues,startsWith,graceUntil,suspendedAt,floatingSeats$/)
  })

  test('can be filtered by product, and by status at the time of the export', async () => {
    const cases = ['product=player', 'status=revoked', 'status=expired', 'product=editor&status=active']
    for (const query of cases) {
      const { text: lines } = await exported(`?${query}`)
      expect({ query, lines: linesOf(lines) }).toStrictEqual({ query, lines: await listed(`&${query}`) })
    }
    expect(linesOf((await exported('?product=editor&status=active')).text)).toHaveLength(3)
    api.ledger.clock.advance(3_600_000)
    expect(linesOf((await exported('?status=expired')).text)).toHaveLength(1)
    api.ledger.clock.advance(-3_600_000)
  })

  test('is empty when no license matches; CSV contains only the header', async () => {
    const none = await makeTenant(api.ledger)
    expect((await exported('', none)).text).toBe('')
    const rows = parseCsv((await exported('?format=csv', none)).text)
    expect(rows).toHaveLength(1)
    expect(rows[0]?.slice(0, 3)).toStrictEqual(['id', 'productId', 'keyTypeId'])
  })

  test('contains masked keys only', async () => {
    for (const format of ['ndjson', 'csv']) {
      const answer = await exported(`?format=${format}`)
      for (const key of rawKeys) {
        expect(answer.text).not.toContain(key)
        expect(answer.text).not.toContain(key.replaceAll('-', ''))
      }
    }
  })
})

describe('an export after its approval', () => {
  test('is described to the approver and possible once', async () => {
    const url = '/v1/licenses/export?format=csv&product=editor&status=active'
    const { token } = tenant
    const asked = await api.ask('GET', url, { token })
    const confirmation = pendingId(asked)
    const [approval] = await listApprovals(api.ledger.ports, tenant.tenantId)
    expect(approval).toMatchObject({
      title: 'Export licenses',
      description: { summary: 'Export the active licenses of “Acme Editor” as CSV' },
      changedSinceRequest: false,
    })
    const shown = async () => (await showApproval(api.ledger.ports, tenant.tenantId, confirmation)).effect
    const three = "3 licenses are exported with their customers' email addresses"
    const four = "4 licenses are exported with their customers' email addresses"
    const always = [
      'License keys are masked and cannot be used',
      'Licenses that are added to this selection after the approval are not exported',
    ]
    expect(await shown()).toMatchObject({
      sentences: [three, ...always],
      sinceAsked: { before: [], now: [] },
    })
    await mint(api.ask, token, 'editor')
    expect(await shown()).toMatchObject({
      sentences: [four, ...always],
      sinceAsked: { before: [three], now: [four] },
    })
    await approve(api.ledger.ports, tenant.tenantId, confirmation, approver)
    const otherFormat = await confirmed(api.ask, tenant, 'GET', url.replace('csv', 'ndjson'), confirmation)
    expect(otherFormat.status).toBe(403)
    const first = await confirmed(api.ask, tenant, 'GET', url, confirmation)
    expect(first.status).toBe(200)
    expect(parseCsv(first.text)).toHaveLength(5)
    expect((await confirmed(api.ask, tenant, 'GET', url, confirmation)).status).toBe(403)
  })

  /** The export of an approval that was given before a change. */
  async function exportedAcross(query: string, happens: (own: TestTenant, ids: string[]) => Promise<void>) {
    const own = await makeTenant(api.ledger)
    await makeProduct(api.ask, own.token, 'editor')
    const ids: string[] = []
    for (let count = 0; count < 3; count++) ids.push((await mint(api.ask, own.token, 'editor')).id)
    const { ports } = api.ledger
    await revokeLicense(ports, own.tenantId, ids[2] ?? '', null, origin)
    const url = `/v1/licenses/export${query}`
    const confirmation = pendingId(await api.ask('GET', url, { token: own.token }))
    await approve(ports, own.tenantId, confirmation, approver)
    await happens(own, ids)
    const { text: lines } = await confirmed(api.ask, own, 'GET', url, confirmation)
    const sent = z.array(License).parse(linesOf(lines))
    return { ids, sent: sent.map(({ id }) => id).sort() }
  }

  test('contains the licenses that existed at the approval, and none minted or imported later', async () => {
    const { ids, sent } = await exportedAcross('', async ({ token }, [first = '']) => {
      await mint(api.ask, token, 'editor')
      const licenses = [{ licenseKey: 'OLD-1234-5678-9012', createdAt: '2020-01-01T00:00:00.000Z' }]
      const imported = await api.ask('POST', '/v1/licenses/import', {
        token,
        body: { productId: 'editor', licenses },
      })
      expect(imported.body).toMatchObject({ imported: 1 })
      // Existing licenses are exported in their current state.
      await api.ask('POST', `/v1/licenses/${first}/remint`, { token })
    })
    expect(sent).toStrictEqual(ids.toSorted())
  })

  test('omits licenses whose status changed into or out of the filter after the approval', async () => {
    const { ids, sent } = await exportedAcross(
      '?status=active',
      async ({ tenantId }, [, second = '', third = '']) => {
        const { ports } = api.ledger
        await undo(ports, tenantId, third, { type: 'reinstate', reason: null }, origin)
        await revokeLicense(ports, tenantId, second, null, origin)
      },
    )
    expect(sent).toStrictEqual([ids[0]])
  })

  test('contains a license that changed after the approval and still matches', async () => {
    const { ids, sent } = await exportedAcross('?status=active', async ({ token }, [first = '']) => {
      await api.ask('POST', `/v1/licenses/${first}/remint`, { token })
    })
    expect(sent).toStrictEqual(ids.slice(0, 2).toSorted())
  })

  test('of revoked licenses omits one that was revoked after the approval', async () => {
    const { ids, sent } = await exportedAcross('?status=revoked', async ({ tenantId }, [first = '']) => {
      await revokeLicense(api.ledger.ports, tenantId, first, null, origin)
    })
    expect(sent).toStrictEqual([ids[2]])
  })

  test.each([
    ['?product=absent', 404],
    ['?format=xml', 400],
    ['?status=ended', 400],
    ['?limit=3', 400],
    ['?format=csv&format=csv', 400],
    ['?product=A', 400],
  ])('with the invalid query %s requests no approval and returns %i', async (query, status) => {
    const before = await listApprovals(api.ledger.ports, tenant.tenantId)
    expect((await api.ask('GET', `/v1/licenses/export${query}`, { token: tenant.token })).status).toBe(status)
    expect(await listApprovals(api.ledger.ports, tenant.tenantId)).toStrictEqual(before)
  })

  test.each(['licenses:read', 'danger'] as const)('requires more than the scope %s', async (scope) => {
    const token = await tenant.tokenWith(scope)
    expect((await api.ask('GET', '/v1/licenses/export', { token })).status).toBe(403)
  })
})

test('an export has no duplicates or gaps while licenses are minted and imported', async () => {
  const busy = await makeTenant(api.ledger)
  const { ask, ledger } = api
  await makeProduct(ask, busy.token, 'editor')
  const importRows = async (from: number, count: number) => {
    const licenses = Array.from({ length: count }, (_, n) => {
      // All over the past, several at the same time.
      const createdAt = new Date(Date.UTC(2025, 0, 1 + ((from + n) % 300))).toISOString()
      return { licenseKey: `busy license ${from + n}`, createdAt }
    })
    const body = { productId: 'editor', licenses }
    expect((await ask('POST', '/v1/licenses/import', { token: busy.token, body })).status).toBe(200)
  }
  await importRows(0, 1000)
  await importRows(1000, 300)
  const Ids = z.array(License)
  const before = new Set(Ids.parse(linesOf((await exported('', busy)).text)).map(({ id }) => id))
  expect(before.size).toBe(1300)

  const exporting = new AbortController()
  const minting = (async () => {
    for (let n = 0; !exporting.signal.aborted; n++) {
      await importRows(10_000 + n * 20, 20)
      ledger.clock.advance(1)
      await mint(ask, busy.token, 'editor')
    }
  })()
  for (let round = 0; round < 3; round++) {
    const ids = Ids.parse(linesOf((await exported('', busy)).text)).map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect([...before].filter((id) => !ids.includes(id))).toStrictEqual([])
  }
  exporting.abort()
  await minting
})

describe('an export over a connection', () => {
  const count = 30_000
  let crowded: TestTenant
  beforeAll(async () => {
    crowded = await makeTenant(api.ledger)
    await makeProduct(api.ask, crowded.token, 'editor')
    await api.ledger.db.query(
      `insert into licenses (license_id, tenant_id, product_id, key_type_id, revision, key_hash, display_key,
         quantity, seats_used, last_fence, on_expiry, source, test, sale_through, refunded_payments, freed_by_customer_at,
         device_subjects, relays, metadata, created_at)
       select 'lic_' || lpad(n::text, 26, '0'), $1, 'editor', 'default', 0, md5(n::text), 'ACME…' || n,
         1, 0, 0, 'expire', 'api', false, 0, '[]', '[]', '[]', '[]',
         json_build_object('order', repeat('x', 100)), '2026-01-01'::timestamptz + n * interval '1 second'
       from generate_series(1, $2::int) as n`,
      [crowded.tenantId, count],
    )
    await api.ledger.db.query(
      `insert into license_history (license_id, revision, event_id, type, data, actor, request_id, causation_id,
         correlation_id, at, position, seats_used, moment)
       select license_id, 0, gen_random_uuid(), 'LicenseMinted', '{}', 'system:test', 'req_1', 'req_1', 'req_1',
         created_at, 0, 0, created_at
       from licenses where tenant_id = $1`,
      [crowded.tenantId],
    )
    await api.ledger.db.query('analyze licenses, license_history')
  })

  /** Serves the application with the test's own services, and counts the pages that are read. */
  async function serving<T>(
    ports: AllPorts,
    use: (url: URL, app: FastifyInstance) => Promise<T>,
  ): Promise<T> {
    const app = await createTestApp(api.ledger, ports)
    try {
      return await use(new URL(await app.listen({ port: 0, host: '127.0.0.1' })), app)
    } finally {
      await app.close()
    }
  }

  function counting(fail = false) {
    const { ports } = api.ledger
    const pages = { read: 0 }
    const subjects: AllPorts['subjects'] = {
      ...ports.subjects,
      openPeople: (tenantId, people) => {
        pages.read++
        if (fail && pages.read === 3) throw new Error('it broke')
        return ports.subjects.openPeople(tenantId, people)
      },
    }
    return { pages, ports: { ...ports, subjects } }
  }

  async function untilItRests(pages: { read: number }): Promise<number> {
    for (let before = -1; before !== pages.read; await sleep(1500)) before = pages.read
    return pages.read
  }

  async function approvedExport(): Promise<Record<string, string>> {
    const asked = await api.ask('GET', '/v1/licenses/export', { token: crowded.token })
    const confirmation = pendingId(asked)
    await approve(api.ledger.ports, crowded.tenantId, confirmation, approver)
    return { authorization: `Bearer ${crowded.token}`, 'x-service-confirmation': confirmation }
  }

  test('reads from the database no faster than the client, and stops when the client disconnects', async () => {
    const { pages, ports } = counting()
    const headers = await approvedExport()
    await serving(ports, async ({ hostname, port }) => {
      const socket = connect({ host: hostname, port: Number(port) })
      const lines = Object.entries({ host: hostname, ...headers }).map(
        ([name, value]) => `${name}: ${value}\r\n`,
      )
      socket.write(`GET /v1/licenses/export HTTP/1.1\r\n${lines.join('')}\r\n`)
      await once(socket, 'readable')
      // The buffers between the two fill up first.
      const held = await untilItRests(pages)
      expect(held).toBeGreaterThan(0)
      expect(held).toBeLessThan(count / 500 / 2)
      socket.destroy()
      expect(await untilItRests(pages)).toBeLessThan(held + 3)
    })
  })

  test('is complete when the client reads at full speed', async () => {
    const headers = await approvedExport()
    await serving(api.ledger.ports, async (url) => {
      const response = await fetch(new URL('/v1/licenses/export', url), { headers })
      const licenses = z.array(License).parse(linesOf(await response.text()))
      const ids = new Set(licenses.map(({ id }) => id))
      expect(ids.size).toBe(count)
    })
  })

  test('does not look complete when it is interrupted', async () => {
    const { ports } = counting(true)
    const headers = await approvedExport()
    await serving(ports, async (url) => {
      const response = await fetch(new URL('/v1/licenses/export', url), { headers })
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow('terminated')
    })
  })

  test('works with HTTP/1.0, which has no chunked encoding', async () => {
    const headers = await approvedExport()
    await serving(api.ledger.ports, async ({ hostname, port }) => {
      const socket = connect({ host: hostname, port: Number(port) })
      const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`GET /v1/licenses/export HTTP/1.0\r\n${lines.join('')}\r\n`)
      const [, body = ''] = (await text(socket)).split('\r\n\r\n')
      expect(linesOf(body)).toHaveLength(count)
    })
  })
})
