/** What an app reports about itself, all of it optional. */
export type Telemetry = {
  appVersion: string | null
  sdkVersion: string | null
  platform: string | null
  sdk: string | null
}

/** The available libraries. */
export const sdks = ['swift', 'rust', 'js', 'csharp', 'cpp'] as const
export type Sdk = (typeof sdks)[number]

/**
 * The library that is assumed when an app sends only its platform. C++ runs anywhere, so it is never assumed.
 */
const sdkByPlatform: Readonly<Record<string, Sdk>> = {
  macos: 'swift',
  ios: 'swift',
  ipados: 'swift',
  tvos: 'swift',
  watchos: 'swift',
  visionos: 'swift',
  windows: 'csharp',
  linux: 'rust',
  web: 'js',
  workers: 'js',
}

/** The library of an app: the one that it sends, else the one of its platform; null when neither is known. */
export function sdkOf(sdk: Sdk | undefined, platform: string | undefined): Sdk | null {
  const known = platform?.toLowerCase() ?? ''
  return sdk ?? (Object.hasOwn(sdkByPlatform, known) ? (sdkByPlatform[known] ?? null) : null)
}
