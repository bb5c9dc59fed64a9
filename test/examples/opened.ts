import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { buildJavascript } from '../../infra/build/javascript.ts'
import { makeTenant, openTestApi, type TestApi, type TestTenant } from '../harness/api.ts'
import { sdkKeyOf } from '../http/apps.ts'
import { makeProduct } from '../http/samples.ts'

const root = join(import.meta.dirname, '../..')

/** Makes a project with the examples, in which the SDK is installed as its package has it. */
async function installExamples(project: string): Promise<void> {
  const installed = join(project, 'node_modules/@keyledger/client')
  mkdirSync(installed, { recursive: true })
  await buildJavascript(installed)
  writeFileSync(join(project, 'package.json'), '{ "private": true, "type": "module" }')
  cpSync(join(root, 'docs/examples'), join(project, 'examples'), {
    recursive: true,
    filter: (path) => !path.includes('node_modules'),
  })
}

/** The examples with a server, and the environment that they are started with. */
type Opened = { api: TestApi; tenant: TestTenant; environment: Record<string, string> }

/** Makes a project with the examples, and a server with the product that they are of. */
export async function openExamples(project: string): Promise<Opened> {
  const api = await openTestApi()
  api.ledger.clock.set(new Date().toISOString())
  const address = await api.app.listen({ port: 0, host: '127.0.0.1' })
  const tenant = await makeTenant(api.ledger)
  const keyTypes = [{ name: 'Pro', keyTypeId: 'pro', deviceLimit: 1, entitlements: ['pro'] }]
  await makeProduct(api.ask, tenant.token, 'demo-app', { keyTypes })
  const { tenantId: TENANT, token: TOKEN } = tenant
  const environment = {
    ...{ LICENSE_SERVER: address, TENANT, TOKEN, PRODUCT: 'demo-app' },
    SDK_KEY: await sdkKeyOf(api.ledger, TENANT),
  }
  await installExamples(project)
  return { api, tenant, environment }
}
