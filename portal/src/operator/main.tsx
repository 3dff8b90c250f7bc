import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { OperatorApp } from './OperatorApp.js'

/** The program of `/operator/`. */
const place = document.getElementById('root')

if (place)
  createRoot(place).render(
    <StrictMode>
      <OperatorApp />
    </StrictMode>,
  )
