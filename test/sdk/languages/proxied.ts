import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'vitest'
import { startForwardProxy } from '../../harness/forward-proxy.ts'
import { otherApp, type StoryProgram } from './apps.ts'
import type { Stage } from './stage.ts'

/** It is nowhere: only a proxy reaches it. */
export const host = 'licenses.example.invalid'

/** Expects an app to reach its server through the proxy that its environment names, and no other. */
export async function goThroughProxy(stage: Stage, program: StoryProgram): Promise<void> {
  const proxy = await startForwardProxy(stage.network.url)
  const directory = mkdtempSync(join(tmpdir(), 'keyledger-test-'))
  const plain = { ...program.environment }
  for (const name of Object.keys(plain)) if (/proxy/i.test(name)) delete plain[name]
  /** Asks a server with such an environment. @returns what it has led to, and what the proxy was asked for */
  const ask = async (scheme: string, variables: Record<string, string>) => {
    const app = otherApp({ ...program, environment: { ...plain, ...variables } })
    const setup = {
      ...{ tenantId: stage.tenant.tenantId, productId: 'editor', sdkKey: stage.sdkKey },
      ...{ baseUrl: `${scheme}://${host}`, storage: join(directory, 'license.json') },
    }
    const now = stage.api.ledger.clock.now().getTime()
    await app.step({ do: 'open', now }, setup)
    const { problem } = await app.step({ do: 'validate', now }, setup)
    app.end()
    return { problem, asked: [...new Set(proxy.asked.splice(0))] }
  }
  try {
    const config = `GET http://${host}/${stage.tenant.tenantId}/editor/config`
    for (const variable of ['HTTP_PROXY', 'http_proxy']) {
      const { problem, asked } = await ask('http', { [variable]: proxy.url })
      expect(problem).toBeUndefined()
      expect(asked).toContain(config)
    }
    for (const variable of ['HTTPS_PROXY', 'https_proxy'])
      expect(await ask('https', { [variable]: proxy.url })).toStrictEqual({
        problem: 'offline',
        asked: [`CONNECT ${host}:443`],
      })
    for (const variable of ['NO_PROXY', 'no_proxy'])
      expect(await ask('http', { HTTP_PROXY: proxy.url, [variable]: `localhost,${host}` })).toMatchObject({
        asked: [],
      })
  } finally {
    await proxy.close()
    rmSync(directory, { recursive: true })
  }
}
