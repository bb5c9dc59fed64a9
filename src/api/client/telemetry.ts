import { z } from 'zod'
import { sdkOf, sdks, type Telemetry } from '../../domain/telemetry.ts'
import { text } from '../../http/schemas.ts'

/** Invalid values are ignored, so that telemetry never keeps an app from its license. */
export const telemetryShape = {
  app_version: text(64).optional().catch(undefined),
  sdk_version: text(64).optional().catch(undefined),
  platform: text(64).optional().catch(undefined),
  sdk: z.enum(sdks).optional().catch(undefined).meta({
    description: 'The language of the SDK in the app; inferred from `platform` when absent',
    example: 'swift',
  }),
}

export type TelemetryIn = z.infer<z.ZodObject<typeof telemetryShape>>

export const telemetryFrom = ({ app_version, sdk_version, platform, sdk }: TelemetryIn): Telemetry => ({
  appVersion: app_version ?? null,
  sdkVersion: sdk_version ?? null,
  platform: platform ?? null,
  sdk: sdkOf(sdk, platform),
})
