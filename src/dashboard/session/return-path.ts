/** Where people are led when nothing else was asked for. */
export const home = '/dashboard'

/**
 * The page that somebody first asked for, if it is one of the dashboard's: never another site, in whichever way an
 * address can be written.
 */
export function returnPath(asked: unknown): string {
  if (
    typeof asked !== 'string' ||
    asked.length > 500 ||
    !/^\/dashboard(?:[/?][\x21-\x5b\x5d-\x7e]*)?$/.test(asked)
  )
    return home
  const origin = 'http://here.invalid'
  const url = URL.parse(asked, origin)
  if (!url || url.origin !== origin) return home
  const inside =
    (url.pathname === home || url.pathname.startsWith(`${home}/`)) && !url.pathname.includes('//')
  // Signing in leads on to a page, not back to signing in or to something that only forms are sent to.
  return inside && !/^\/dashboard\/(?:sign-in|sign-out|confirm)/.test(url.pathname)
    ? url.pathname + url.search
    : home
}

/** The address of a page that leads on to another one afterwards. */
export const leadingTo = (page: string, path: string): string =>
  path === home ? page : `${page}?return=${encodeURIComponent(path)}`
