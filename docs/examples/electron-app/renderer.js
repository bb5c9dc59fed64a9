const { license } = window
const element = (id) => document.querySelector(`#${id}`)
const day = (seconds) => new Date(seconds * 1000).toLocaleDateString(undefined, { dateStyle: 'long' })

/** What each state says to the user. */
const sentences = {
  starting: () => 'The license is being read.',
  unlicensed: ({ trialDays }) =>
    trialDays ? `Enter your license key, or try the app for ${trialDays} days.` : 'Enter your license key.',
  licensed: ({ licenseExpiresAt }) =>
    licenseExpiresAt === null
      ? 'This app is licensed.'
      : `This app is licensed until ${day(licenseExpiresAt)}.`,
  fallback: () => 'The license has ended. You keep what you have bought for good.',
  offline: ({ until }) => `The license server cannot be reached. The app goes on until ${day(until)}.`,
  trial: ({ until }) => `The trial ends on ${day(until)}.`,
  free: () => 'This is the free version.',
  expired: ({ of, at }) =>
    ({
      license: `The license ended on ${day(at)}.`,
      trial: `The trial ended on ${day(at)}.`,
      lease: 'Connect to the internet to go on.',
      file: 'The license file has ended. Ask for the next one.',
    })[of],
  revoked: ({ reason }) =>
    reason === 'suspended'
      ? 'The license is suspended.'
      : 'The license can no longer be used on this device.',
  not_covered: ({ updatesUntil }) =>
    `The license covers versions until ${day(updatesUntil)}. Install an older one, or extend it.`,
  another_device: () => 'The license is in use on another machine. Activate it here again.',
}

function show(state) {
  element('state').textContent = sentences[state.status](state)
  const isHeld = 'entitlements' in state
  element('activate').hidden = isHeld
  element('browser').hidden = isHeld
  element('deactivate').hidden = !isHeld
  element('trial').hidden = !state.trialDays
  element('purchased').hidden = state.status !== 'expired' || state.of !== 'license'
}

/** Lets a button do something once at a time, and says what keeps it from that. */
function does(id, event, work) {
  element(id).addEventListener(event, async (happened) => {
    happened.preventDefault()
    element('problem').textContent = 'One moment.'
    const problem = await work()
    element('problem').textContent = problem ?? ''
  })
}

const problemOf = ({ ok, problem }) => (ok ? undefined : problem.message)
does('activate', 'submit', async () => problemOf(await license.activate(element('key').value)))
does('browser', 'click', async () => problemOf(await license.chooseInBrowser()))
does('trial', 'click', async () => problemOf(await license.startTrial()))
does('deactivate', 'click', async () => problemOf(await license.deactivate()))
does('purchased', 'click', async () =>
  (await license.purchased()) ? undefined : 'The purchase is not known yet. Try again in a minute.',
)

license.onChange(show)
license.onCode((code) => {
  element('problem').textContent = `The page in your browser shows this code: ${code}`
})
license.onNotice(({ notice, licenseExpiresAt }) => {
  if (notice === 'expiring') element('problem').textContent = `The license ends on ${day(licenseExpiresAt)}.`
})
license.state().then(show)
