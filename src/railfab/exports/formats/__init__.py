"""The formats, one module each; see `railfab.exports.contract`."""
