/** Guarantee: over stdin and stdout an agent gets the same tools and answers, from a server elsewhere. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { z } from 'zod'
import { approve } from '../../src/gate/approvals.ts'
import { allTools } from '../../src/mcp/server.ts'
import { openTestServer, type TestServer } from '../cli/remote/server.ts'
import { createHost, program } from '../harness/process.ts'
import { makeProduct } from '../http/samples.ts'
import { type Agent, connectAgent } from './agent.ts'

const host = createHost()
let server: TestServer
let agent: Agent
beforeAll(async () => {
  server = await openTestServer()
  await makeProduct(server.api.ask, server.tenant.token, 'editor')
  agent = await agentWith({ KEYLEDGER_SERVER: server.address, KEYLEDGER_TOKEN: server.tenant.token })
})
afterAll(() => agent.close())

const agentWith = (environment: Record<string, string>): Promise<Agent> =>
  connectAgent(
    new StdioClientTransport({
      command: process.execPath,
      args: [program, 'mcp'],
      env: { PATH: process.env.PATH ?? '', HOME: host.path('home'), ...environment },
      stderr: 'ignore',
    }),
  )

const Minted = z.object({ license: z.object({ id: z.string() }), licenseKey: z.string() })
const Approval = z.object({ approval: z.object({ id: z.string() }) })

test('all tools are there', async () => {
  const { tools } = await agent.client.listTools()
  expect(tools.map(({ name }) => name)).toEqual(allTools.map(({ name }) => name))
})

test('a license is issued, found, and revoked with an approval', async () => {
  const { license } = Minted.parse((await agent.use('mint_license', { productId: 'editor' })).data)
  expect((await agent.use('get_license', { licenseId: license.id })).text).toContain(license.id)
  const given = { licenseId: license.id, reason: 'fraud' }
  const { approval } = Approval.parse((await agent.use('revoke_license', given)).data)
  const { api, tenant } = server
  await approve(api.ledger.ports, tenant.tenantId, approval.id, {
    requestId: 'req_approver',
    actor: 'member:mem_2',
  })
  const revoked = await agent.use('revoke_license', { ...given, confirmationId: approval.id })
  expect(revoked.data).toMatchObject({ license: { status: 'revoked' } })
})

test('a refusal of the server and a server that is gone are results that say why', async () => {
  const refused = await agent.use('get_license', { licenseId: 'lic_nothing' })
  expect(refused).toMatchObject({ refused: true, text: 'Refused (404): license not found' })
  const lost = await agentWith({
    KEYLEDGER_SERVER: 'http://localhost:9',
    KEYLEDGER_TOKEN: server.tenant.token,
  })
  const { refused: failed, text } = await lost.use('update_license', { licenseId: 'lic_x', reason: 'x' })
  expect(failed).toBe(true)
  expect(text).toContain('does not respond')
  await lost.close()
})

test('a batch and a line that is no message are answered, and the next message is read', async () => {
  const environment = { KEYLEDGER_SERVER: server.address, KEYLEDGER_TOKEN: server.tenant.token }
  const command = spawn(process.execPath, [program, 'mcp'], {
    env: { PATH: process.env.PATH ?? '', HOME: host.path('home'), ...environment },
    stdio: ['pipe', 'pipe', 'ignore'],
  })
  const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' })
  const lines = [JSON.stringify([ping(1), ping(2)]), 'no message', JSON.stringify(ping(3))]
  command.stdin.write(`${lines.join('\n')}\n`)
  const answers: unknown[] = []
  for await (const line of createInterface(command.stdout))
    if (answers.push(JSON.parse(line)) === lines.length) break
  command.stdin.end()
  const refused = {
    jsonrpc: '2.0',
    error: { code: -32_600, message: expect.stringContaining('no batches') as string },
  }
  expect(answers).toStrictEqual([refused, refused, { jsonrpc: '2.0', id: 3, result: {} }])
  expect(await once(command, 'exit')).toStrictEqual([0, null])
})
