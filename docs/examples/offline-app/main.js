#!/usr/bin/env node
import { readFileSync, writeFileSync } from 'node:fs'
import { homedir, hostname } from 'node:os'
import { join } from 'node:path'
import { fileStorage, identifyDevice } from 'keyledger/client/node'
import { createOfflineClient } from 'keyledger/client/offline'

const { TENANT, PRODUCT, KEYS, XDG_CONFIG_HOME } = process.env
const folder = join(XDG_CONFIG_HOME ?? join(homedir(), '.config'), 'mill')

const client = createOfflineClient({
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
      return `Licensed until ${day(state.until)}, with ${Object.keys(state.entitlements).join(', ') || 'no extras'}.`
    case 'fallback':
      return 'The license has ended; its basic features stay.'
    case 'expired':
      return `The license file ended on ${day(state.at)}. Ask for the next one: node main.js request <key>`
    case 'withdrawn':
      return 'The license was withdrawn.'
    case 'released':
      return 'The license file was given back.'
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
      const imported = await client.importLicense(readFileSync(given, 'utf8'))
      return imported.ok ? sentence(imported.state) : `This file cannot be used here: ${imported.reason}.`
    }
    case 'release': {
      const release = await client.release()
      if (!release) return 'There is no license file to give back.'
      writeFileSync('release.txt', release.text)
      return 'Carry release.txt to a machine with a network.'
    }
    default:
      return sentence(client.state())
  }
}

console.log(await run(process.argv.slice(2)))
