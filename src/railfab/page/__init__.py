"""The live page: a server of what a fabric does now, measured against its intent."""
