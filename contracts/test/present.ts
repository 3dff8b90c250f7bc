/** The present, for chains and programs that run in real time. Nothing is measured with it. */
export const present = (): Date => new Date()

/** The present in whole Unix seconds. */
export const presentSeconds = (): number => Math.floor(present().getTime() / 1000)
