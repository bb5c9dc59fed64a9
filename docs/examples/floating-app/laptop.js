#!/usr/bin/env node
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@keyledger/client'
import { fileStorage, findRelays, identifyDevice } from '@keyledger/client/node'

const { LICENSE_SERVER, TENANT, PRODUCT, SDK_KEY, KEYS, XDG_CONFIG_HOME } = process.env
const folder = join(XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'draft')

const client = createClient({
  baseUrl: LICENSE_SERVER ?? 'http://localhost:8080',
  tenantId: TENANT ?? 'demo',
  productId: PRODUCT ?? 'draft',
  sdkKey: SDK_KEY ?? '',
  keys: JSON.parse(KEYS ?? '{}'),
  relays: findRelays,
  storage: fileStorage(join(folder, 'license.json')),
  identity: identifyDevice,
  deviceName: hostname(),
})

const minute = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 16).replace('T', ' ')

function sentence(state) {
  switch (state.status) {
    case 'licensed':
    case 'offline':
      return `This machine has a seat until ${minute(state.until)} UTC.`
    case 'expired':
      return 'The seat has ended. It is taken again when one is free.'
    default:
      return 'No seat. Take one with: node laptop.js activate <key>'
  }
}

async function run([command, given = '']) {
  await client.start()
  switch (command) {
    case 'activate':
      return client.activate(given)
    case 'borrow':
      return client.borrow(Number(given) * 86_400)
    case 'return':
      return client.deactivate()
    default:
      return { ok: true, state: client.state() }
  }
}

const { ok, problem, state } = await run(process.argv.slice(2))
client.stop()
console.log(ok ? sentence(state) : `${problem.message}.`)
process.exitCode = ok ? 0 : 1
