"""Running an application: settings, lifecycle, reset."""
