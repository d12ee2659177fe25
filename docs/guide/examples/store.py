import warmwire.store
import warmwire.zarr
import zarr

store = warmwire.store.HTTPStore("https://example.com/measurements.zarr")
print(store.head("zarr.json")["size"])
print(store.get_ranges("zarr.json", starts=[0, 2], lengths=[1, 4]))

group = zarr.open_group(warmwire.zarr.ZarrStore(store), mode="r")
print(group["temperature"][:3])
