#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@keyledger/client'
import { fileStorage, identifyDevice } from '@keyledger/client/node'

const { TENANT, PRODUCT, KEYS, XDG_CONFIG_HOME } = process.env
const folder = join(XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'mill')

const client = createClient({
  tenantId: TENANT ?? 'demo',
  productId: PRODUCT ?? 'mill',
  keys: JSON.parse(KEYS ?? '{}'),
  storage: fileStorage(join(folder, 'license.json')),
  identity: identifyDevice,
  deviceName: hostname(),
})

const day = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 10)

function sentence(state) {
  switch (state.status) {
    case 'licensed':
      return `Licensed until ${day(state.until)}, with ${state.entitlements.join(', ') || 'no extras'}.`
    case 'fallback':
      return 'The license has ended; its basic features stay.'
    case 'expired':
      return `The license file ended on ${day(state.at)}. Ask for the next one: node main.js request <key>`
    case 'revoked':
      return 'The license was withdrawn.'
    case 'another_device':
      return 'The license file is for another machine. Ask for one: node main.js request <key>'
    default:
      return 'No license. Ask for one: node main.js request <key>'
  }
}

async function run([command, given = '']) {
  await client.start()
  switch (command) {
    case 'request': {
      const { text } = await client.createOfflineRequest(given)
      writeFileSync('request.txt', text)
      return 'Carry request.txt to a machine with a network.'
    }
    case 'import': {
      const { ok, problem, state } = await client.importLicense(readFileSync(given, 'utf8'))
      return ok ? sentence(state) : `This file cannot be used: ${problem.message}.`
    }
    case 'release': {
      const release = await client.release()
      if (!release) return 'There is no license file to give back.'
      writeFileSync('release.txt', release.text)
      return 'The app is not licensed any more. Carry release.txt to a machine with a network.'
    }
    default:
      return sentence(client.state())
  }
}

console.log(await run(process.argv.slice(2)))
