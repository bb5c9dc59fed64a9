// Guarantee: where another member has to approve, a member never approves their own request, whichever processes
// change the rule and approve concurrently.
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { createLog } from '../../src/app/log.ts'
import { openStores } from '../../src/app/stores.ts'
import { changeApprovalRule, createTenant } from '../../src/commands/tenants.ts'
import { parseConfig } from '../../src/config.ts'
import { newId } from '../../src/credentials/id.ts'
import { rotateSdkKey } from '../../src/gate/operations/sdk-key.ts'
import { passGate } from '../../src/gate/pass.ts'
import { createHost } from '../harness/process.ts'
import { wholeVariable } from '../harness/variables.ts'
import { readLog } from './operator.ts'

const host = createHost()
const processes = 2
const approvals = wholeVariable('KEYLEDGER_TEST_RACES', 1) * 30
const racer = fileURLToPath(new URL('approval-racer.ts', import.meta.url))

test(`none of ${processes * approvals} approvals by the requester succeeds while the rule forbids them`, async () => {
  const { environment } = await host.stores()
  const { ports, close } = await openStores(parseConfig(environment), createLog('silent'))
  const origin = { requestId: 'req_test', actor: 'operator:test' }
  const memberId = newId('mem')
  await createTenant(ports, { tenantId: 'acme', name: 'Acme', plan: 'unlimited' }, origin)

  async function ask(): Promise<string> {
    const outcome = await passGate(ports, rotateSdkKey, {
      tenantId: 'acme',
      tokenId: memberId,
      userAgent: null,
      request: { parameters: {}, query: {}, body: null },
      origin: { requestId: 'req_ask', actor: `member:${memberId}` },
      confirmationId: undefined,
    })
    if (outcome.passed) throw new Error('nobody has approved it')
    return outcome.confirmation.confirmationId
  }

  const waiting = await Promise.all(
    Array.from({ length: processes }, async () => {
      const ids: string[] = []
      for (let count = 0; count < approvals; count++) ids.push(await ask())
      return ids
    }),
  )
  const running = new Set(
    waiting.map((ids) => host.start(['node', racer, 'acme', memberId, ids.join(',')], environment)),
  )
  for (const one of running) void one.finished.then(() => running.delete(one))
  for (let on = true; running.size > 0; on = !on) await changeApprovalRule(ports, 'acme', on, origin)

  let forbidden = false
  const found = { approved: 0, forbidden: 0, changes: 0 }
  for (const entry of await readLog(ports.ledger)) {
    if (!entry.readable) throw new Error(entry.problem)
    const { event } = entry
    if (event.type === 'ApprovalRuleChanged') {
      forbidden = event.data.anotherMember
      found.changes++
    }
    if (event.type === 'ConfirmationApproved') found[forbidden ? 'forbidden' : 'approved']++
  }
  expect(found.forbidden).toBe(0)
  expect(found.changes).toBeGreaterThan(2)
  expect(found.approved).toBeGreaterThan(0)
  expect(found.approved).toBeLessThan(processes * approvals)
  await close()
})
