import { afterAll } from 'vitest'
import { approve } from '../../../src/gate/approvals.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../../harness/api.ts'
import { freePort, type Running } from '../../harness/process.ts'

/** A server that other machines call, in this process. */
export type TestServer = {
  address: string
  api: TestApi
  tenant: TestTenant
  /** Approves the confirmation that a command waits for, as another member. @returns its id */
  approveFor(command: Running): Promise<string>
}

/** Listens until the tests of the file have ended. */
export async function openTestServer(): Promise<TestServer> {
  const port = await freePort()
  const address = `http://localhost:${port}`
  const api = await openTestApi({ baseUrl: address })
  afterAll(() => api.close())
  await api.app.listen({ port, host: 'localhost' })
  const tenant = await makeTenant(api.ledger)
  return {
    address,
    api,
    tenant,
    async approveFor(command) {
      const id = await confirmationIn(command)
      await approve(api.ledger.ports, tenant.tenantId, id, {
        requestId: 'req_approver',
        actor: 'member:mem_2',
      })
      return id
    },
  }
}

/** The confirmation that a command has printed. */
export async function confirmationIn(command: Running): Promise<string> {
  for (;;) {
    const id = /confirmation (cnf_\w+)/.exec(command.stderr())?.[1]
    if (id !== undefined) return id
    if (command.child.exitCode !== null) throw new Error(`it ended without one: ${command.stderr()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
