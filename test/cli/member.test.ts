// Guarantee: an operator on the host adds, lists and removes members, changes their roles, and creates a new link for
// a member who has lost every sign-in method; a printed link works once, on the running server.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createHost, type Environment, type Server } from '../harness/process.ts'

const host = createHost()
let environment: Environment
let server: Server
beforeAll(async () => {
  ;({ environment } = await host.stores())
  environment = { ...environment, KEYLEDGER_BASE_URL: 'https://keys.example' }
  await host.json(z.unknown(), ['tenant', 'create', 'acme'], environment)
  server = await host.serve(environment)
})

const Linked = z.strictObject({ memberId: z.string(), link: z.string(), expiresAt: z.iso.datetime() })
const Members = z.array(
  z.strictObject({ memberId: z.string(), email: z.string(), role: z.string(), createdAt: z.string() }),
)
const keyledger = (...args: string[]) => host.run(args, environment)
const of = ['--tenant', 'acme']

/** The running server's response to a link. */
async function opened(link: string) {
  const { origin, pathname } = new URL(link)
  expect(origin).toBe('https://keys.example')
  const response = await fetch(server.address + pathname)
  return { status: response.status, text: await response.text() }
}

test('a member is added with a link, listed, given another role and removed', async () => {
  const args = ['member', 'add', 'ada@example.com', ...of, '--role', 'approver']
  const { memberId, link, expiresAt } = await host.json(Linked, args, environment)
  expect(Date.parse(expiresAt)).toBeGreaterThan(Date.now() + 71 * 3_600_000)
  const page = await opened(link)
  expect(page.status).toBe(200)
  expect(page.text).toContain('ada@example.com')
  expect(await keyledger(...args)).toMatchObject({
    code: 1,
    stderr: 'a member with this email address already exists\n',
  })
  await host.json(z.unknown(), ['member', 'add', 'grace@example.com', ...of], environment)
  expect((await keyledger('member', 'role', 'ADA@example.com', 'auditor', ...of)).code).toBe(0)
  const members = await host.json(Members, ['member', 'list', ...of], environment)
  expect(members.map(({ email, role }) => [email, role])).toStrictEqual([
    ['ada@example.com', 'auditor'],
    ['grace@example.com', 'owner'],
  ])
  expect((await keyledger('member', 'list', ...of)).stdout).toMatch(
    /^mem_\w+ +auditor +\S+Z +ada@example.com$/m,
  )
  expect(await keyledger('member', 'role', 'grace@example.com', 'support', ...of)).toMatchObject({
    code: 1,
    stderr: 'a tenant needs at least one owner; promote another member first\n',
  })
  expect(await keyledger('member', 'remove', memberId, ...of)).toMatchObject({ code: 0 })
  expect((await opened(link)).status).toBe(404)
  expect(await keyledger('member', 'remove', memberId, ...of)).toMatchObject({
    code: 1,
    stderr: 'member not found\n',
  })
})

test('`member link` prints a new link, and the previous one no longer works', async () => {
  const added = ['member', 'add', 'linus@example.com', ...of]
  const { memberId, link } = await host.json(Linked, added, environment)
  const again = await host.json(Linked, ['member', 'link', 'linus@example.com', ...of], environment)
  expect(again.memberId).toBe(memberId)
  expect((await opened(link)).status).toBe(404)
  expect((await opened(again.link)).status).toBe(200)
  const { stdout } = await keyledger('member', 'link', memberId, ...of)
  expect((await opened(stdout.trim())).status).toBe(200)
})

test.each([
  [['add', 'no address', ...of], 2],
  [['add', 'a@example.com', ...of, '--role', 'king'], 2],
  [['add', 'a@example.com', '--tenant', 'nobody'], 1],
  [['add', 'a@example.com'], 2],
  [['link', 'nobody@example.com', ...of], 1],
  [['link', 'mem_00000000000000000000000000', ...of], 1],
  [['role', 'nobody@example.com', 'owner', ...of], 1],
])('member %j exits with %i', async (args, code) => {
  expect((await keyledger('member', ...args)).code).toBe(code)
})
