import { z } from 'zod'
import { day, type Licenses, type Story } from '../tell.ts'

/** The files that answer the requests. */
async function filesFor(mill: Licenses, requests: readonly string[]): Promise<string[]> {
  const answers = await mill.each('POST', '/files', (index) => ({ request: requests[index] }))
  return answers.map((answer) => z.object({ file: z.string() }).parse(answer).file)
}

/** Machines without a network. */
export const files: Story[] = [
  {
    name: 'license file on a machine that never has a network',
    async tell({ open, does, licenses, publishedKeys, pass }) {
      const mill = await licenses('mill')
      const keys = await publishedKeys()
      await open('unlicensed', { baseUrl: undefined, sdkKey: undefined, keys })
      await does('validate', 'no_server: unlicensed')
      const text = await filesFor(mill, await does('request', 'unlicensed', { text: mill.keys }))
      await does('importLicense', 'licensed', { text })
      await does('importLicense', 'licensed', { text })
      await open('licensed', { baseUrl: undefined, sdkKey: undefined, keys })
      pass(31 * day)
      await does('look', 'expired')
      const next = await filesFor(mill, await does('request', 'expired', { text: mill.keys }))
      await does('importLicense', 'licensed', { text: next, notices: ['restored'] })
    },
  },
  {
    name: 'license file of another machine',
    async tell({ open, does, licenses, copyStorage }) {
      const mill = await licenses('mill')
      await open('unlicensed')
      const text = await filesFor(mill, await does('request', 'unlicensed', { text: mill.keys }))
      copyStorage('copy')
      await open('unlicensed', { machineHash: 'hash-of-another-machine' }, 'copy')
      await does('importLicense', 'another_device: unlicensed', { text })
      await does('importLicense', 'malformed: unlicensed', { text: 'no file' })
      await open('unlicensed')
      await does('importLicense', 'licensed', { text })
    },
  },
  {
    name: 'license file that was not asked for',
    async tell({ open, does, licenses }) {
      const mill = await licenses('mill')
      await open('unlicensed')
      const text = await filesFor(mill, await does('request', 'unlicensed', { text: mill.keys }))
      await does('request', 'unlicensed', { text: mill.keys })
      await does('importLicense', 'not_asked: unlicensed', { text })
    },
  },
  {
    name: 'license file given back',
    async tell({ open, does, licenses, pass }) {
      const mill = await licenses('mill')
      await open('unlicensed')
      const text = await filesFor(mill, await does('request', 'unlicensed', { text: mill.keys }))
      await does('importLicense', 'licensed', { text })
      const releases = await does('release', 'unlicensed')
      await open('unlicensed')
      const again = await does('release', 'unlicensed')
      if (again.join() !== releases.join()) throw new Error('the text is another one')
      await mill.each('POST', '/files/release', (index) => ({ release: releases[index] }))
      await does('importLicense', 'outdated: unlicensed', { text })
      pass(10)
      await does('activate', 'licensed', { text: mill.keys })
    },
  },
  {
    name: 'license file beside a lease',
    async tell({ open, does, licenses, pass }) {
      const mill = await licenses('mill')
      await open('unlicensed')
      await does('activate', 'licensed', { text: mill.keys })
      pass(1)
      const text = await filesFor(mill, await does('request', 'licensed', { text: mill.keys }))
      await does('importLicense', 'licensed', { text })
      await does('deactivate', 'has_file: licensed')
    },
  },
  {
    name: 'license file that a list withdraws',
    async tell({ open, does, licenses, pass, stage }) {
      const mill = await licenses('mill')
      await open('unlicensed')
      const text = await filesFor(mill, await does('request', 'unlicensed', { text: mill.keys }))
      await does('importLicense', 'licensed', { text })
      pass(10)
      await mill.each('POST', '/suspend', {})
      const { body } = await stage.api.ask('GET', `/${stage.tenant.tenantId}/editor/withdrawn`)
      const { withdrawn } = z.object({ withdrawn: z.string() }).parse(body)
      await does('importLicense', 'revoked', { text: withdrawn, notices: ['revoked'] })
      pass(10)
      await does('look', 'revoked')
    },
  },
]
