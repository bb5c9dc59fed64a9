/** Guarantee: the licensing of the Electron app works against a real server, in Node, and its prompt in a real browser. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Client, State } from '../../src/sdk/javascript/app/index.ts'
import type { TestApi, TestTenant } from '../harness/api.ts'
import { launchBrowser } from '../harness/chromium.ts'
import { createHost } from '../harness/process.ts'
import { waitMs } from '../harness/time-limits.ts'
import { mint } from '../http/samples.ts'
import { openExamples } from './opened.ts'

const host = createHost()
const example = (path: string) => join(host.directory, 'examples', path)
let api: TestApi
let tenant: TestTenant
let environment: Record<string, string>
beforeAll(async () => {
  ;({ api, tenant, environment } = await openExamples(host.directory))
})
afterAll(() => api.close())

type Licensing = {
  startLicensing(given: object): { client: Client; ready: Promise<State> }
}

/** Starts the licensing of the Electron app, and says what its window is sent. */
async function startElectronApp(folder: string) {
  const { startLicensing } = (await import(
    pathToFileURL(example('electron-app/licensing.js')).href
  )) as Licensing
  const handlers = new Map<string, (event: unknown, ...args: unknown[]) => unknown>()
  const ipcMain = { handle: (name: string, handler: () => unknown) => handlers.set(name, handler) }
  const shown: State[] = []
  const opened: string[] = []
  const safeStorage = {
    encryptString: (text: string) => Buffer.from(text).map((byte) => byte ^ 1),
    decryptString: (bytes: Buffer) => Buffer.from(bytes.map((byte) => byte ^ 1)).toString(),
  }
  const { client, ready } = startLicensing({
    ...{ ipcMain, folder, env: environment, system: { safeStorage, fetch: globalThis.fetch } },
    show: (state: State) => shown.push(state),
    tell: () => undefined,
    openPage: (url: string) => opened.push(url),
    showCode: () => undefined,
  })
  await ready
  const invoke = (name: string, ...args: unknown[]) => handlers.get(`license:${name}`)?.({}, ...args)
  return { client, shown, opened, invoke }
}

test('the licensing of the Electron app answers its window and tells it of changes', async () => {
  const folder = host.path('electron')
  const { client, shown, invoke } = await startElectronApp(folder)
  const { licenseKey } = await mint(api.ask, tenant.token, 'demo-app')
  expect(await invoke('activate', licenseKey)).toMatchObject({ ok: true, state: { status: 'licensed' } })
  expect(await invoke('state')).toMatchObject({ status: 'licensed', entitlements: ['pro'] })
  const stored = readFileSync(join(folder, 'license.json'), 'utf8')
  expect(stored).toMatch(/^[A-Za-z0-9+/=]+$/)
  expect(await invoke('deactivate')).toMatchObject({ ok: true, state: { status: 'unlicensed' } })
  client.stop()
  expect(shown.map(({ status }) => status)).toStrictEqual(['unlicensed', 'licensed', 'unlicensed'])
})

test('the prompt of the Electron app takes a key, says what is wrong with another one, and gives the license back', async () => {
  const { client, shown, opened, invoke } = await startElectronApp(host.path('electron-prompt'))
  const browser = await launchBrowser()
  try {
    const page = await browser.newPage()
    page.setDefaultTimeout(waitMs)
    await page.exposeFunction('invoke', invoke)
    await page.addInitScript(`
      const listeners = []
      window.changed = (state) => listeners.forEach((listener) => listener(state))
      const call = (name) => (...args) => window.invoke(name, ...args)
      window.license = {
        ...{ activate: call('activate'), deactivate: call('deactivate'), startTrial: call('trial') },
        ...{ purchased: call('purchased'), state: call('state'), chooseInBrowser: call('browser') },
        onChange: (listener) => listeners.push(listener),
        onCode: () => undefined,
        onNotice: () => undefined,
      }`)
    client.subscribe((state) => void page.evaluate(`window.changed(${JSON.stringify(state)})`))
    await page.goto(pathToFileURL(example('electron-app/index.html')).href)
    await page.getByText('Enter your license key').waitFor()
    await page.getByRole('button', { name: 'Choose a license in the browser' }).click()
    await page.getByText('this vendor has no portal').waitFor()
    expect(opened).toStrictEqual([])
    await page.getByLabel('License key').fill('DEMO-1')
    await page.getByRole('button', { name: 'Activate' }).click()
    await page.getByText('not found').waitFor()
    const { licenseKey } = await mint(api.ask, tenant.token, 'demo-app')
    await page.getByLabel('License key').fill(licenseKey)
    await page.keyboard.press('Enter')
    await page.getByText('This app is licensed.').waitFor()
    await page.getByRole('button', { name: 'Give the license back' }).click()
    await page.getByRole('button', { name: 'Activate' }).waitFor()
  } finally {
    await browser.close()
    client.stop()
  }
  expect(shown.map(({ status }) => status)).toStrictEqual(['unlicensed', 'licensed', 'unlicensed'])
})
