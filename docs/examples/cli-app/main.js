#!/usr/bin/env node
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@keyledger/client'
import { fileStorage, identifyDevice } from '@keyledger/client/node'

const { LICENSE_SERVER, TENANT, PRODUCT, SDK_KEY, XDG_CONFIG_HOME } = process.env
const folder = join(XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'demo-app')

const client = createClient({
  baseUrl: LICENSE_SERVER ?? 'http://localhost:8080',
  tenantId: TENANT ?? 'demo',
  productId: PRODUCT ?? 'demo-app',
  sdkKey: SDK_KEY ?? '',
  storage: fileStorage(join(folder, 'license.json')),
  deviceName: hostname(),
  identity: identifyDevice,
})

const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10)

function sentence(state) {
  switch (state.status) {
    case 'licensed':
      return `Licensed, with ${state.entitlements.join(', ') || 'no extras'}.`
    case 'offline':
      return `Offline. The license is good until ${day(state.until)}.`
    case 'fallback':
      return 'The license has ended; its basic features stay.'
    case 'trial':
      return `Trial until ${day(state.until)}.`
    case 'free':
      return 'Free tier.'
    case 'expired':
      return state.of === 'lease' ? 'Connect to the internet to renew the license.' : 'The license has ended.'
    case 'revoked':
      return `The license was withdrawn: ${state.reason}.`
    case 'another_device':
      return 'This license was given to another machine. Connect to the internet to use it here.'
    default:
      return 'No license. Enter your key: node main.js activate <key>'
  }
}

const allowed = (state) => ['licensed', 'offline', 'trial'].includes(state.status)

async function run([command, key = '']) {
  switch (command) {
    case 'activate':
      return client.activate(key)
    case 'deactivate':
      return client.deactivate()
    case 'trial':
      return client.startTrial()
    default:
      // Also without a connection the stored lease counts until its end.
      return client.validate().then(({ state }) => ({ ok: true, state }))
  }
}

const command = process.argv.slice(2)
const { state, ok, problem } = await run(command)
if (!ok) {
  console.error(problem.message)
  process.exitCode = 1
} else if (command[0] === 'export') {
  console.log(allowed(state) ? 'Exported.' : sentence(state))
  process.exitCode = allowed(state) ? 0 : 1
} else {
  console.log(sentence(state))
}
