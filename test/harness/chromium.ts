import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { type Browser, chromium } from 'playwright-core'

const places = [
  process.env.KEYLEDGER_TEST_CHROMIUM,
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const found = (): string | undefined =>
  places.find((path) => path !== undefined && path !== '' && existsSync(path))

/** A real browser: the one that there is, else Debian's, which root installs. */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = found() ?? installed()
  // Without coloured edges of letters pictures are a good deal smaller; as root Chromium has no sandbox to run in.
  const args = ['--disable-lcd-text', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return chromium.launch({ executablePath, args })
}

function installed(): string {
  if (process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    execFileSync('apt-get', ['update', '-qq'], { env, stdio: 'inherit' })
    execFileSync('apt-get', ['install', '-y', '-qq', '--no-install-recommends', 'chromium'], {
      env,
      stdio: 'inherit',
    })
    const path = found()
    if (path !== undefined) return path
  }
  throw new Error(
    'The tests of the dashboard need Chromium: install it (Debian: apt-get install chromium), or name one in KEYLEDGER_TEST_CHROMIUM',
  )
}
