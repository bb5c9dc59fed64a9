/** Members who see a portal as its customers do. */
import { expect } from 'vitest'
import type { Role } from '../../src/domain/members/roles.ts'
import { type Client, clientOf } from '../dashboard/client.ts'
import { makeMember } from '../dashboard/members.ts'
import type { TestTenant } from '../harness/api.ts'
import { makeProduct, mint } from '../http/samples.ts'
import { openTestPortal, type TestPortal } from './customer.ts'

/** One for each test file, as its ledger is. */
export let portal: TestPortal

export async function openPortal(): Promise<void> {
  portal = await openTestPortal()
  await furnish(portal.tenant)
}

/** A product with which the portal offers all that it can. */
export async function furnish({ token }: TestTenant): Promise<void> {
  const floatingSeats = {
    seatSeconds: 86_400,
    overdraft: null,
    scope: 'device',
    relays: { maxDays: 30 },
    maxBorrowDays: 30,
    maxBorrowed: 2,
  }
  const keyTypes = [{ name: 'Pro', deviceLimit: 5, seatPolicy: 'floating', floatingSeats }]
  const offered = { customerFiles: true, customerKeyReplacement: true, keyRecovery: true }
  await makeProduct(portal.api.ask, token, 'editor', { keyTypes, ...offered })
  const { status } = await portal.api.ask('PUT', '/v1/products/editor/mail', {
    token,
    body: { enabled: true },
  })
  expect(status).toBe(200)
}

let people = 0
/** Somebody with a license that has a device. */
export async function buyer({ token, tenantId }: TestTenant = portal.tenant) {
  const { ask } = portal.api
  const email = `buyer-${++people}@example.com`
  const { id, licenseKey } = await mint(ask, token, 'editor', { email })
  await ask('POST', '/v1/licenses/activate', {
    token,
    body: { tenant_id: tenantId, product_id: 'editor', license_key: licenseKey, device_id: 'laptop' },
  })
  const { body } = await ask('GET', `/v1/licenses/${id}`, { token })
  const { customerId } = (body as { license: { customerId: string } }).license
  return { email, licenseId: id, licenseKey, customerId, page: `/dashboard/customers/${customerId}` }
}

let addresses = 0
export async function signedIn(role: Role = 'support', tenantId = portal.tenant.tenantId) {
  const client = clientOf(portal.api.app, `192.0.2.${++addresses}`)
  const member = await makeMember(portal.api.ledger, tenantId, role)
  expect((await client.signIn(member)).status).toBe(303)
  return { client, member }
}

/** Presses the button on the page of a customer. @returns the address of the link */
export async function begin(client: Client, page: string): Promise<string> {
  expect((await client.get(page)).text).toContain(`action="${page}/portal"`)
  const { status, location = '' } = await client.post(`${page}/portal`)
  expect(status).toBe(303)
  return location
}

export async function viewing(role: Role = 'support') {
  const { client, member } = await signedIn(role)
  const customer = await buyer()
  const link = await begin(client, customer.page)
  expect(await client.get(link)).toMatchObject({ status: 303, location: portal.home })
  return { client, member, customer, link }
}

export const auditOf = async (query: string, { token } = portal.tenant) => {
  const { body } = await portal.api.ask('GET', `/v1/audit?${query}`, { token })
  return (body as { items: { actor: string; action: string; target: object; from: object }[] }).items
}

/** The rows of every table, but for those that record views. */
export async function stored(): Promise<Record<string, string | null>> {
  const { db, ports } = portal.api.ledger
  await ports.usage.flush()
  const { rows } = await db.query<{ name: string }>(
    `select schemaname || '.' || tablename as name from pg_tables
     where schemaname in ('public', 'vault', 'usage') and tablename not in ('audit', 'checkpoints')`,
  )
  const found = await Promise.all(
    rows.map(async ({ name }) => {
      const { rows: all } = await db.query<{ text: string | null }>(
        `select string_agg(t::text, ' ' order by t::text) as text from ${name} t`,
      )
      return [name, all[0]?.text ?? null] as const
    }),
  )
  return Object.fromEntries(found)
}
