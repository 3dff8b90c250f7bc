import { startApp } from '../../react/test/startApp.js'
import { openLink } from '../src/frame/link.js'

/** The hooks in a frame: their wallet is that of the page around it. */
const { provider } = await openLink()
startApp(provider)
