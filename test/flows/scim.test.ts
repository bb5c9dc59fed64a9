// Guarantee: with concurrent requests on two servers, a user name is created once, a group's name too, and the last owner is not
// deactivated. What the roles are in the end is what the groups say.
import { beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { createHost, type Server } from '../harness/process.ts'

const host = createHost()
const rounds = 5

let servers: Server[]
let token: string
beforeAll(async () => {
  const { environment } = await host.stores()
  const Created = z.object({ token: z.string() })
  await host.json(z.object({ tenantId: z.string() }), ['tenant', 'create', 'acme', '--json'], environment)
  const create = ['token', 'create', '--tenant', 'acme', '--scopes', 'scim', '--json']
  token = (await host.json(Created, create, environment)).token
  const add = (email: string) => ['member', 'add', email, '--tenant', 'acme', '--role', 'owner', '--json']
  for (const email of ['ada@acme.example', 'bob@acme.example'])
    await host.json(z.object({ memberId: z.string() }), add(email), environment)
  servers = await Promise.all([host.serve(environment), host.serve(environment)])
})

const Resource = z.object({ id: z.string() })
const Users = z.object({ Resources: z.array(z.object({ id: z.string(), active: z.boolean() })) })

async function send(server: number, method: string, path: string, body?: object) {
  const response = await fetch(`${servers[server]?.address}/scim/v2${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text === '' ? undefined : (JSON.parse(text) as unknown) }
}

const onBoth = (method: string, path: string, body?: object) =>
  Promise.all([0, 1, 0, 1].map((server) => send(server, method, path, body)))

const statuses = (answers: readonly { status: number }[]) => answers.map(({ status }) => status).sort()

test('one user name and one name of a group is created once', async () => {
  for (let round = 0; round < rounds; round++) {
    const users = await onBoth('POST', '/Users', { userName: `racer-${round}@acme.example` })
    expect(statuses(users)).toStrictEqual([201, 409, 409, 409])
    const groups = await onBoth('POST', '/Groups', { displayName: `Racers ${round}` })
    expect(statuses(groups)).toStrictEqual([201, 409, 409, 409])
  }
})

test('of two owners who are deactivated at once, one stays', async () => {
  const owners = await Promise.all(
    ['ada', 'bob'].map(async (name) => {
      const filter = encodeURIComponent(`userName eq "${name}@acme.example"`)
      return Users.parse((await send(0, 'GET', `/Users?filter=${filter}`)).body).Resources[0]?.id ?? ''
    }),
  )
  const off = { Operations: [{ op: 'replace', path: 'active', value: false }] }
  const answers = await Promise.all(owners.map((id, server) => send(server, 'PATCH', `/Users/${id}`, off)))
  expect(statuses(answers)).toStrictEqual([200, 409])
})

test('members who are added to and removed from a group at once end as the last requests say', async () => {
  const ids = await Promise.all(
    [0, 1, 2, 3].map(async (n) => {
      const { body } = await send(n % 2, 'POST', '/Users', { userName: `member-${n}@acme.example` })
      return Resource.parse(body).id
    }),
  )
  const { id } = Resource.parse((await send(0, 'POST', '/Groups', { displayName: 'Staff' })).body)
  const patch = (server: number, op: string, value: string) =>
    send(server, 'PATCH', `/Groups/${id}`, { Operations: [{ op, path: 'members', value: [{ value }] }] })
  const added = await Promise.all(ids.map((member, n) => patch(n % 2, 'add', member)))
  expect(statuses(added)).toStrictEqual([204, 204, 204, 204])
  const [first, , third] = ids
  await Promise.all([patch(0, 'remove', first ?? ''), patch(1, 'remove', third ?? '')])
  const group = z
    .object({ members: z.array(z.object({ value: z.string() })) })
    .parse((await send(1, 'GET', `/Groups/${id}`)).body)
  expect(new Set(group.members.map(({ value }) => value))).toStrictEqual(new Set([ids[1], ids[3]]))
})
