/**
 * Guarantee: the people of an organization see its licenses in the portal with their own addresses, and nobody else does. Its
 * administrators change the licenses and the people; its members change nothing. Whoever is removed sees nothing from then on.
 */
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import { mailInvitations } from '../../src/reactions/invitations.ts'
import type { Client } from '../dashboard/client.ts'
import { makeTenant } from '../harness/api.ts'
import { askApproveRepeat } from '../harness/gate.ts'
import { makeCustomer, makeProduct, mint } from '../http/samples.ts'
import { openPortalOf, openTestPortal, type TestPortal } from './customer.ts'

let portal: TestPortal
beforeAll(async () => {
  portal = await openTestPortal()
  await makeProduct(portal.api.ask, portal.tenant.token, 'editor', {
    keyTypes: [{ name: 'Team', deviceLimit: 10 }],
    customerSeatFrees: 5,
    customerKeyReplacement: true,
    keyRecovery: true,
  })
})
afterAll(() => portal.close())
beforeEach(() => portal.api.ledger.clock.advance(2 * 3_600_000))

const send = async (method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object) => {
  const { token } = portal.tenant
  const answer = await portal.api.ask(method, path, { token, ...(body && { body }) })
  expect(answer.status, answer.text).toBeLessThan(300)
  return answer.body
}
const Person = z.object({ id: z.string(), email: z.string(), role: z.string() })
const People = z.object({ items: z.array(Person) })
const peopleOf = async (team: Team) =>
  People.parse(await send('GET', `/v1/customers/${team.customerId}/people?limit=100`)).items

type Team = { number: number; customerId: string; license: string; buyer: string; path: string }
let teams = 0

/** An organization with a license that a device uses. */
async function makeTeam(): Promise<Team> {
  const number = ++teams
  const buyer = `buyer-${number}@example.com`
  const { token } = portal.tenant
  const customerId = await makeCustomer(portal.api.ask, token, { email: buyer, name: `Team ${number}` })
  const { id, licenseKey } = await mint(portal.api.ask, token, 'editor', { customerId, email: buyer })
  await portal.api.ask('POST', '/v1/licenses/activate', {
    token,
    body: {
      ...{ tenant_id: portal.tenant.tenantId, product_id: 'editor' },
      ...{ license_key: licenseKey, device_id: 'macbook', name: 'MacBook' },
    },
  })
  await send('POST', `/v1/customers/${customerId}/organization`)
  return { number, customerId, license: id, buyer, path: `${portal.home}/organizations/${customerId}` }
}

const add = ({ customerId }: Team, people: readonly object[], invite = false) =>
  send('POST', `/v1/customers/${customerId}/people`, { people, invite })
const signedIn = (email: string) => portal.signedIn(email)
const personOn = (text: string) => /people\/(per_\w+)"/.exec(text)?.[1] ?? ''

/** What is due of the invitations. */
const mailDue = () =>
  mailInvitations(portal.api.ledger.ports, {
    baseUrl: 'https://keys.acme.example',
    onFailure: ({ error }) => {
      throw error
    },
  }).poll()
const textOf = (raw: string) => raw.replaceAll('=\r\n', '').replaceAll('=3D', '=')

test('somebody is invited by mail, signs in with their own address, and sees the license', async () => {
  const team = await makeTeam()
  const email = 'grace@example.com'
  await add(team, [{ email, name: 'Grace' }], true)
  await mailDue()
  await mailDue()
  const [mail, ...others] = portal.mailsTo(email)
  expect(others).toStrictEqual([])
  for (const words of [
    `Team ${team.number}`,
    'Acme',
    `https://keys.acme.example${portal.home}/sign-in`,
    email,
  ])
    expect(textOf(mail?.raw ?? '')).toContain(words)
  const grace = await signedIn(email)
  const home = await grace.get(portal.home)
  expect(home.text).toContain(`licenses/${team.license}`)
  expect(home.text).toContain(`People of Team ${team.number}`)
}, 60_000)

test('a member sees the license and changes nothing', async () => {
  const team = await makeTeam()
  await add(team, [{ email: 'member@example.com' }])
  const member = await signedIn('member@example.com')
  const license = `${portal.home}/licenses/${team.license}`
  const { text } = await member.get(license)
  expect(text).toContain('MacBook')
  expect(text).not.toMatch(/devices\/ins_|<form(?![^>]*sign-out)/)
  const buyer = await signedIn(team.buyer)
  const device = /devices\/(ins_\w+)\/free/.exec((await buyer.get(license)).text)?.[1] ?? ''
  expect(device).not.toBe('')
  const people = personOn((await buyer.get(team.path)).text)
  const tried: (readonly [string, Record<string, string>?])[] = [
    [`${license}/devices/${device}/free`],
    [`${license}/devices/${device}/name`, { name: 'Mine' }],
    [`${license}/send-key`],
    [`${license}/replace-key`],
    [`${team.path}/people`, { email: 'x@example.com' }],
    [`${team.path}/list`, { list: 'x@example.com' }],
    [`${team.path}/people/${people}/role`, { role: 'administrator' }],
    [`${team.path}/people/${people}/remove`],
    [`${team.path}/people/${people}/invite`],
  ]
  for (const [path, fields] of tried)
    expect([path, (await member.post(path, fields)).status]).toStrictEqual([path, 404])
  for (const page of ['people.csv', 'acts', 'list', `people/${people}`])
    expect((await member.get(`${team.path}/${page}`)).status).toBe(404)
  expect((await member.get(team.path)).text).not.toMatch(/<form(?![^>]*sign-out)/)
  expect((await buyer.get(license)).text).toContain('MacBook')
}, 60_000)

test('an administrator invites people, one or a list of them, changes their role and removes them', async () => {
  const team = await makeTeam()
  const buyer = await signedIn(team.buyer)
  await buyer.get(team.path)
  const one = await buyer.post(`${team.path}/people`, {
    email: 'one@example.com',
    name: 'One',
    role: 'member',
  })
  expect(one.location).toBe(`${team.path}?done=peopleInvited`)
  const list = 'two@example.com, Two, administrator\nthree@example.com\n'
  expect((await buyer.post(`${team.path}/list`, { list })).location).toBe(`${team.path}?done=peopleInvited`)
  await mailDue()
  for (const name of ['one', 'two', 'three']) expect(portal.mailsTo(`${name}@example.com`)).toHaveLength(1)
  const people = await peopleOf(team)
  expect(people.map(({ email, role }) => [email, role]).toSorted()).toStrictEqual([
    [team.buyer, 'administrator'],
    ['one@example.com', 'member'],
    ['three@example.com', 'member'],
    ['two@example.com', 'administrator'],
  ])
  const ofOne = `${team.path}/people/${people.find(({ email }) => email === 'one@example.com')?.id}`
  expect((await buyer.post(`${ofOne}/role`, { role: 'administrator' })).location).toContain('roleChanged')
  expect((await buyer.post(`${ofOne}/invite`)).location).toContain('invitedRecently')
  expect((await buyer.post(`${ofOne}/remove`)).location).toContain('personRemoved')
  expect((await buyer.post(`${ofOne}/remove`)).status).toBe(404)
  const csv = await buyer.get(`${team.path}/people.csv`)
  expect(csv.headers['content-type']).toContain('text/csv')
  expect(csv.text).toContain('two@example.com,Two,administrator,')
  const { text } = await buyer.get(`${team.path}/acts`)
  for (const words of ['One was added as Member', 'One became Administrator', 'One was removed', 'by Acme'])
    expect(text).toContain(words)
  expect(text).toContain(`by Team ${team.number}`)
}, 60_000)

test('what is wrong with an address or a list is said, and nobody is added', async () => {
  const team = await makeTeam()
  const buyer = await signedIn(team.buyer)
  await buyer.get(team.path)
  const one = await buyer.post(`${team.path}/people`, { email: 'no address' })
  expect([one.status, one.text.includes('Enter an email address')]).toStrictEqual([422, true])
  const list = await buyer.post(`${team.path}/list`, { list: 'ok@example.com\nnot one' })
  expect([list.status, list.text.includes('Line 2 does not begin with an email address.')]).toStrictEqual([
    422,
    true,
  ])
  expect(await peopleOf(team)).toHaveLength(1)
}, 60_000)

test('the last administrator can neither leave nor be removed; others leave and see nothing from then on', async () => {
  const team = await makeTeam()
  await add(team, [{ email: 'leaver@example.com' }])
  const buyer = await signedIn(team.buyer)
  await buyer.get(`${team.path}/leave`)
  expect((await buyer.post(`${team.path}/leave`)).location).toContain('lastAdministrator')
  const leaver = await signedIn('leaver@example.com')
  await leaver.get(`${team.path}/leave`)
  expect((await leaver.post(`${team.path}/leave`)).location).toBe(portal.home)
  expect((await leaver.get(`${portal.home}/licenses/${team.license}`)).status).toBe(404)
  expect((await leaver.get(team.path)).status).toBe(404)
  expect((await leaver.get(portal.home)).text).toContain('No licenses')
}, 60_000)

test('whoever is removed, or was in an organization that was dissolved, sees nothing from the next request on', async () => {
  const team = await makeTeam()
  await add(team, [{ email: 'first@example.com' }, { email: 'second@example.com', role: 'administrator' }])
  const [first, second] = [await signedIn('first@example.com'), await signedIn('second@example.com')]
  const sees = async (client: Client) => (await client.get(`${portal.home}/licenses/${team.license}`)).status
  expect([await sees(first), await sees(second)]).toStrictEqual([200, 200])
  const people = await peopleOf(team)
  const id = people.find(({ email }) => email === 'first@example.com')?.id
  await send('DELETE', `/v1/customers/${team.customerId}/people/${id}`)
  expect([await sees(first), await sees(second)]).toStrictEqual([404, 200])
  await send('DELETE', `/v1/customers/${team.customerId}/organization`)
  expect(await sees(second)).toBe(404)
}, 60_000)

test('an organization of others is answered as an absent one, to its strangers and in other workspaces', async () => {
  const [team, other] = [await makeTeam(), await makeTeam()]
  const stranger = await signedIn(other.buyer)
  const shape = async (id: string, page: string) => {
    const { status, text } = await stranger.get(`${portal.home}/organizations/${id}${page}`)
    return { status, text: text.replaceAll(id, 'ID') }
  }
  const absent = `cus_${'0'.repeat(26)}`
  for (const page of ['', '/list', '/acts', '/people.csv', '/leave'])
    expect(await shape(team.customerId, page)).toStrictEqual(await shape(absent, page))
  const workspace = await makeTenant(portal.api.ledger)
  await openPortalOf(portal.api.app, workspace.token)
  const home = `/portal/${workspace.tenantId}`
  expect((await stranger.get(`${home}/organizations/${other.customerId}`)).location).toBe(`${home}/sign-in`)
}, 60_000)

test('an erased person is gone from the organization, and so are the mails that invited them', async () => {
  const team = await makeTeam()
  await add(team, [{ email: 'gone@example.com', name: 'Gone' }], true)
  await mailDue()
  const gone = await signedIn('gone@example.com')
  const own = await makeCustomer(portal.api.ask, portal.tenant.token, { email: 'gone@example.com' })
  await askApproveRepeat(portal.api, portal.tenant, 'DELETE', `/v1/customers/${own}`)
  expect(await peopleOf(team)).toHaveLength(1)
  expect((await gone.get(team.path)).location).toBe(`${portal.home}/sign-in`)
  const { text } = await (await signedIn(team.buyer)).get(`${team.path}/acts`)
  expect(text).not.toContain('Gone')
  expect(text).toContain('A person who was erased')
}, 60_000)
