// Guarantee: whichever processes give and delete custom roles concurrently, and wherever one of them is killed, no member has a role
// and no provider gives one that is gone.
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { addCustomRole, removeCustomRole } from '../../src/commands/custom-roles.ts'
import { addMember } from '../../src/commands/members/members.ts'
import { createTenant } from '../../src/commands/tenants.ts'
import { parseConfig } from '../../src/config.ts'
import { newId } from '../../src/credentials/id.ts'
import { isRoleId } from '../../src/domain/members/roles.ts'
import { Refusal } from '../../src/domain/refusal.ts'
import { createHost } from '../harness/process.ts'
import { addTestProvider } from '../harness/sign-in-providers.ts'
import { wholeVariable } from '../harness/variables.ts'
import { readLog } from './operator.ts'

const host = createHost()
const times = wholeVariable('KEYLEDGER_TEST_RACES', 1) * 20
const racer = fileURLToPath(new URL('role-racer.ts', import.meta.url))

test('a role that is given while it is deleted is either kept or not given', async () => {
  const { environment } = await host.stores()
  const { ports, close } = await openStores(parseConfig(environment), createLog('silent'))
  const origin = { requestId: 'req_test', actor: 'operator:test' }
  const tenantId = 'acme'
  const execution = () => ({ id: newId('cnf'), origin })
  await createTenant(ports, { tenantId, name: 'Acme', plan: 'unlimited' }, origin)
  await addTestProvider({ ports }, tenantId, 'login')
  const race = async (name: string, often: number) => {
    const email = `${name}@acme.example`
    const memberId = await addMember(ports, { tenantId, role: 'auditor', email }, origin)
    return host.start(['node', racer, tenantId, memberId, String(often)], environment)
  }
  const [victim, ...others] = await Promise.all([
    race('ada', 1_000_000),
    race('grace', times),
    race('joan', times),
  ])
  const running = new Set(others)
  for (const one of others) void one.finished.then(() => running.delete(one))
  const found = { removed: 0, inUse: 0 }
  while (running.size > 0) {
    const given = { name: newId('rol'), scopes: ['licenses:read'] } as const
    const { roleId } = await addCustomRole(ports, tenantId, given, execution())
    // The one that was killed may keep its role, so there are others.
    for (let tries = 0; tries < 20; tries++) {
      try {
        await removeCustomRole(ports, tenantId, roleId, execution())
        found.removed++
        break
      } catch (error) {
        if (!(error instanceof Refusal && error.code === 'role_in_use')) throw error
        found.inUse++
      }
    }
    if (found.inUse > 2) victim?.child.kill('SIGKILL')
  }
  expect((await victim?.finished)?.signal).toBe('SIGKILL')
  for (const one of others) expect(await one.finished).toMatchObject({ code: 0, stderr: '' })
  expect(await dangling(await readLog(ports.ledger))).toStrictEqual([])
  expect(found.removed).toBeGreaterThan(2)
  expect(found.inUse).toBeGreaterThan(2)
  await close()
})

/** The roles that were given while they did not exist, or deleted while they were given, in the order of the log. */
async function dangling(log: Awaited<ReturnType<typeof readLog>>): Promise<string[]> {
  const roles = new Set<string>()
  const given = new Map<string, string | null>()
  const wrong: string[] = []
  const give = (stream: string, role: string | null) => {
    if (role !== null && isRoleId(role) && !roles.has(role)) wrong.push(`${stream} got ${role}`)
    given.set(stream, role)
  }
  for (const entry of log) {
    if (!entry.readable) throw new Error(entry.problem)
    const { event, stream } = entry
    if (event.type === 'CustomRoleAdded') roles.add(event.data.roleId)
    if (event.type === 'MemberRoleChanged') give(stream, event.data.role)
    if (event.type === 'SignInProviderChanged') give(stream, event.data.defaultRole)
    if (event.type !== 'CustomRoleRemoved') continue
    const { roleId } = event.data
    roles.delete(roleId)
    for (const [one, role] of given) if (role === roleId) wrong.push(`${one} has ${roleId}`)
  }
  return wrong
}
