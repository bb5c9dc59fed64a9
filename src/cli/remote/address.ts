import { CommandMisused } from '../../terminal/exit-codes.ts'

/**
 * Parses the address of a server. A host without a scheme means https, or http on this machine.
 * @returns the address without a slash at its end
 * @throws CommandMisused when it is no address, or when tokens would cross a network in the clear
 */
export function serverAddress(given: string, options: { insecureHttp: boolean }): string {
  const url = parse(given)
  if (url === undefined || [url.username, url.password, url.search, url.hash].some((part) => part !== '')) {
    throw new CommandMisused(
      `${given} is not the address of a server. Write it as https://keyledger.example.com.`,
    )
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname) && !options.insecureHttp) {
    throw new CommandMisused(
      `${given} has no TLS: anyone on the network path could read the token. Use https, or add --insecure-http in a network that you trust.`,
    )
  }
  return url.href.replace(/\/+$/, '')
}

function parse(given: string): URL | undefined {
  if (/^https?:\/\//i.test(given)) return URL.canParse(given) ? new URL(given) : undefined
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(given) || !URL.canParse(`https://${given}`)) return undefined
  const { hostname } = new URL(`https://${given}`)
  return new URL(`${isLoopback(hostname) ? 'http' : 'https'}://${given}`)
}

/** Whether a host name means this machine. */
const isLoopback = (hostname: string): boolean =>
  hostname === 'localhost' ||
  hostname.endsWith('.localhost') ||
  hostname === '[::1]' ||
  /^127(?:\.\d{1,3}){3}$/.test(hostname)
