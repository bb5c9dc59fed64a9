import { type Browser, chromium } from 'playwright-core'
import { programAt } from './debian.ts'

const places = [
  process.env.KEYLEDGER_TEST_CHROMIUM,
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
]

const advice =
  'The tests of the dashboard need Chromium: install it (Debian: apt-get install chromium-headless-shell), or name one in KEYLEDGER_TEST_CHROMIUM'

/**
 * Starts a real browser: an installed one, or Debian's package, which root can install. The build without windows
 * is twice as fast.
 */
export async function launchBrowser(): Promise<Browser> {
  const executablePath = programAt(places, ['chromium-headless-shell', 'chromium'], advice)
  // Without subpixel rendering pictures are smaller; as root, Chromium has no sandbox.
  const args = ['--disable-lcd-text', ...(process.getuid?.() === 0 ? ['--no-sandbox'] : [])]
  return chromium.launch({ executablePath, args })
}
