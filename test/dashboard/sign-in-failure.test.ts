/**
 * Guarantee: while the event store is down nobody is signed in, and the answer is 503 with a page that says so. A code that
 * was entered works afterwards, and a one-time link has set up what it is for.
 */
import { status } from '@grpc/grpc-js'
import type { FastifyInstance } from 'fastify'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { addMember, issueLink } from '../../src/commands/members/members.ts'
import { createTestApp, makeTenant, type TestTenant } from '../harness/api.ts'
import { type GrpcProxy, startGrpcProxy } from '../harness/grpc-proxy.ts'
import { openTestLedger, origin, type TestLedger, uniqueId } from '../harness/ledger.ts'
import { clientOf } from './client.ts'
import { fieldsOf, wordsOf } from './forms.ts'
import { codesOf, makeMember } from './members.ts'

/** Short limits for calls that must fail. */
const limits = { tryMs: 20_000, callMs: 20_000 }

const undo: (() => unknown)[] = []
let proxy: GrpcProxy
let ledger: TestLedger
let app: FastifyInstance
let tenant: TestTenant
beforeAll(async () => {
  ledger = await openTestLedger({
    limits,
    through: async (url) => {
      proxy = await startGrpcProxy(Number(/:(\d+)\?/.exec(url)?.[1]))
      undo.push(() => proxy.close())
      return `esdb://127.0.0.1:${proxy.port}?tls=false`
    },
  })
  undo.push(() => ledger.close())
  tenant = await makeTenant(ledger)
  app = await createTestApp(ledger, ledger.ports)
  undo.push(() => app.close())
})
afterAll(async () => {
  for (const step of undo.splice(0).reverse()) await step()
})

function stopStore(): void {
  const ending = { status: status.UNAVAILABLE, message: 'Server is shutting down' }
  proxy.fault = { moment: 'before', ending }
  limits.callMs = 300
}
function startStore(): void {
  proxy.fault = undefined
  limits.callMs = 20_000
}
afterEach(startStore)

let addresses = 0
const stranger = () => clientOf(app, `192.0.2.${++addresses}`)
const unavailable = { status: 503, headers: { 'retry-after': expect.stringMatching(/^\d+$/) as string } }

test('a sign-in is 503 with the form, and the same code signs in afterwards, once', async () => {
  const member = await makeMember(ledger, tenant.tenantId, 'owner')
  const code = member.newCode()
  const { email, password } = member
  const client = stranger()
  await client.get('/dashboard/sign-in')
  stopStore()
  const refused = await client.post('/dashboard/sign-in', { email, password, code })
  expect(refused).toMatchObject(unavailable)
  expect(wordsOf(refused)).toContain('Sign-ins cannot be recorded at the moment')
  expect(wordsOf(refused)).toContain('The same code works again.')
  expect(fieldsOf(refused)).toMatchObject({ email })
  expect(refused.text).not.toContain(password)
  expect((await client.get('/dashboard/account')).status).toBe(303)
  startStore()
  expect(await client.post('/dashboard/sign-in', { email, password, code })).toMatchObject({ status: 303 })
  expect((await client.get('/dashboard/account')).status).toBe(200)
  const another = stranger()
  await another.get('/dashboard/sign-in')
  expect((await another.post('/dashboard/sign-in', { email, password, code })).status).toBe(401)
})

test('a one-time link sets up the sign-in and says that it did, and the member signs in later', async () => {
  const email = `${uniqueId('ada')}@example.com`
  const { tenantId } = tenant
  const memberId = await addMember(ledger.ports, { tenantId, role: 'owner', email }, origin)
  const { secret } = await issueLink(ledger.ports, tenantId, memberId, 'invitation', origin)
  const client = stranger()
  const { text } = await client.get(`/dashboard/welcome/${secret}`)
  const key = /<code>([A-Z2-7 ]{39})<\/code>/.exec(text)?.[1]?.replaceAll(' ', '') ?? ''
  const newCode = codesOf(key, ledger.clock)
  const password = 'correct horse battery staple'
  stopStore()
  const answer = await client.post(`/dashboard/welcome/${secret}`, { password, code: newCode() })
  expect(answer).toMatchObject(unavailable)
  expect(wordsOf(answer)).toContain('Sign-in is set up')
  startStore()
  const again = await stranger().signIn({ memberId, tenantId, email, password, newCode })
  expect(again.status).toBe(303)
})
